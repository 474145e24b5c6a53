"""Privacy audits: what a mechanism or a policy reveals of one changed input, one module per audit.

A study names an audit as its environment. The module of an audit exports

- SUBJECT, the policy or mechanism that is audited, or a tuple of them; or FAMILIES, all policies of which it can audit
- STREAMED_AS, the names under which its parameters are hashed into streams, where they differ
- `configure(..., neighbour)`, which returns the inputs, a NamedTuple; `neighbour` is 0 or 1
- AUDIT, an `audit.Audit`: the event, its exact probability, the likelier neighbour and the claimed loss

The parameter `noise` of `configure`, or of the subject's, is a multiple of the noise. A value below 1 makes a weakened
control, which the audit must catch.
"""
