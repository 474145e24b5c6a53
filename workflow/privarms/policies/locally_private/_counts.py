"""What a run with bins counts beside its algorithm, which looks at none of it: indices into a state's `counts`."""

# Looks at the estimate of an arm in a bin while its radius is finite, and those that find it farther from what it
# estimates than the radius, (14) of Ma et al. (2025).
LOOKS, MISSES = 0, 1
# Of the target: users in a followed bin that is not the whole cube, and how often their bins had been halved, in all;
# bins that were followed, batch by batch, and those of them without any user or with one.
IN_PARTS, HALVINGS, FOLLOWED, EMPTY, ALONE = 2, 3, 4, 5, 6
COUNTS = 7
