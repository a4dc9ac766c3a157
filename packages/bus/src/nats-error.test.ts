import { JetStreamApiError } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { isFinal } from './nats-error.ts'

test.each([
  [true, 400, 10054, 'message size exceeds maximum allowed'],
  [false, 409, 10158, 'duplicate message id is in process'],
  [false, 503, 10008, 'JetStream system temporarily unavailable'],
])('an error is final (%s): %i %i %s', (final, code, err_code, description) => {
  expect(isFinal(new JetStreamApiError({ code, err_code, description }))).toBe(final)
})
