"""What a mechanism or a policy gives away of one changed input: a module an audit, and one reduction for all of them.

An audit is two neighbouring inputs and an event. Its module stands where a study names its environment, and exports

- SUBJECT, the policy or mechanism that is audited, or several, and STREAMED_AS, under which names its parameters are
  hashed into streams; in place of SUBJECT, FAMILIES, where any policy of these can be audited
- `configure(..., neighbour)`, the inputs, a NamedTuple; `neighbour`, 0 or 1, says which of the two
- `count_events(policy, params, inputs, horizon, trials, rng)`, in how many trials the event happens; in the protocol
  `audit` all randomness is the subject's own
- `event_probability(params, inputs)` and `log_ratio(params, inputs)`, exactly where it is known and nan elsewhere; the
  latter is the logarithm of the event's probability with the likelier neighbour over that with the other one, whichever
  of the two the inputs are
- `noise`, by convention, in its own or its subject's `configure`: a multiple of the noise, of which less than 1 makes a
  broken twin that must be caught
- `likelier(inputs)`, with which neighbour the event is likelier, 0 or 1; `claimed_loss(epsilon)`, the log ratio that is
  promised at a budget
"""
