"""Commands about models themselves: what there is, what one is, and how to pack one."""
