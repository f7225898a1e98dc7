"""From step tables, as polybake.toml has them, to the steps themselves."""
