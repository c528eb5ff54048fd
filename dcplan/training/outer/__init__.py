"""Sites that train by themselves for many steps: local SGD, Streaming DiLoCo, parameter servers."""
