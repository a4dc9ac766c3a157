import * as fc from 'fast-check'
import { anyText } from './arbitraries.ts'

/** The frames that clients send on a socket. */
export const upFrame = fc.oneof(
  fc.record({
    type: fc.constant('message'),
    payload: fc.record(
      {
        text: anyText,
        id: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
        replaces: fc.constant('m1'),
        model: fc.constantFrom('demo', 'demo/demo-1', 'a/b/../c'),
        attachments: fc.array(
          fc.constant('sessionsessionsession.00000000-0000-0000-0000-000000000000'),
        ),
      },
      { requiredKeys: ['text'] },
    ),
  }),
  fc.record({ type: fc.constant('regenerate'), payload: fc.record({ messageId: anyText }) }),
  fc.record({ type: fc.constant('cancel'), payload: fc.record({ messageId: anyText }) }),
  fc.record({
    type: fc.constant('answer'),
    payload: fc.record({
      id: anyText,
      action: fc.constantFrom('accept', 'decline', 'cancel'),
      content: fc.dictionary(anyText, fc.oneof(anyText, fc.double(), fc.boolean())),
    }),
  }),
  fc.constant({ type: 'ping' }),
)
