"""Privacy audits: tests of how well the output reveals a change in one input; one module per audit.

A study names an audit as its environment. The module of an audit exports:

- `configure(..., neighbour)`, which returns the inputs, a NamedTuple; `neighbour` is 0 or 1
- AUDIT, an `audit.Audit`
- STREAMED_AS, SECONDS_PER_RUN and SECONDS_PER_STEP, if needed, as environments and policies do

The parameter `noise`, of this `configure` or of the subject's, is a multiple of the noise. A value below 1 makes a
weakened control, which the audit must catch.
"""
