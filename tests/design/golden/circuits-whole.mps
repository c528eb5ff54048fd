* test: the whole ILP: 5 choices, demands: 1, states: 3
* Money in thousand US$, rates in Tb/s.
* column n0: modules small of circuit x
* column n1: modules large of circuit x
* column n2: capacity of circuit y that is there already
* column n3: modules small of circuit y
* column n4: modules large of circuit y
* column c0: 1 if circuit x is set up
* column fk0s0e0a: traffic of a from a to b [Tb/s], healthy
* column fk1s0e0a: traffic of a from a to b [Tb/s], after losing circuit x
* column fk2s0e0a: traffic of a from a to b [Tb/s], after losing circuit y
* row lease0: modules small of circuit x: only where the circuit is set up
* row lease1: modules large of circuit x: only where the circuit is set up
* row one1: at most one module of circuit y
* row balancek0s0v1: traffic of a that stays at b is what the two ask of each other, healthy
* row linkk0e0: traffic fits what is lit between a and b, healthy
* row balancek1s0v1: traffic of a that stays at b is what the two ask of each other, after losing circuit x
* row linkk1e0: traffic fits what is lit between a and b, after losing circuit x
* row balancek2s0v1: traffic of a that stays at b is what the two ask of each other, after losing circuit y
* row linkk2e0: traffic fits what is lit between a and b, after losing circuit y
NAME dcplan
ROWS
 N OBJ
 L lease0
 L lease1
 L one1
 E balancek0s0v1
 L linkk0e0
 E balancek1s0v1
 L linkk1e0
 E balancek2s0v1
 L linkk2e0
COLUMNS
 M1 'MARKER' 'INTORG'
 n0 OBJ 0.01
 n0 lease0 1
 n0 linkk0e0 -0.1
 n0 linkk2e0 -0.1
 n1 OBJ 0.025
 n1 lease1 1
 n1 linkk0e0 -0.4
 n1 linkk2e0 -0.4
 n2 linkk0e0 -0.05
 n2 linkk1e0 -0.05
 n3 OBJ 0.01
 n3 one1 1
 n3 linkk0e0 -0.1
 n3 linkk1e0 -0.1
 n4 OBJ 0.025
 n4 one1 1
 n4 linkk0e0 -0.4
 n4 linkk1e0 -0.4
 c0 OBJ 0.007
 c0 lease0 -3
 c0 lease1 -1
 M2 'MARKER' 'INTEND'
 fk0s0e0a balancek0s0v1 1
 fk0s0e0a linkk0e0 1
 fk1s0e0a balancek1s0v1 1
 fk1s0e0a linkk1e0 1
 fk2s0e0a balancek2s0v1 1
 fk2s0e0a linkk2e0 1
RHS
 RHS one1 1
 RHS balancek0s0v1 0.3
 RHS balancek1s0v1 0.15
 RHS balancek2s0v1 0.15
BOUNDS
 UP BND n0 3
 UP BND n1 1
 FX BND n2 1
 UP BND n3 1
 UP BND n4 1
 UP BND c0 1
 PL BND fk0s0e0a
 PL BND fk1s0e0a
 PL BND fk2s0e0a
ENDATA
