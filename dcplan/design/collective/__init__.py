"""How the sites of a job sum gradients: patterns compared, trees packed, on rates and on what is lit."""
