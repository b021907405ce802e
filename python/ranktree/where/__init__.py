"""Where the ranks of a launch are: host, binding, NUMA node, who shares it, and the flag that mends what is wrong."""
