import { expect, test } from 'vitest'
import { providerWords } from './provider-words.ts'

test.each([
  ['{"error":{"message":"Your credit balance is too low."}}', 'Your credit balance is too low.'],
  [
    '{"type":"error","error":{"type":"x","message":"max_tokens: too large"}}',
    'max_tokens: too large',
  ],
  [
    '{"error":"model \\"x\\" not found, try pulling it first"}',
    'model "x" not found, try pulling it first',
  ],
  ['[{"error":{"code":400,"message":"Unknown name"}}]', 'Unknown name'],
  ['{"detail":"no\\n  such\\tthing"}', 'no such thing'],
  ['upstream is away', 'upstream is away'],
])('the message of the body %s is shown', (body, message) => {
  expect(providerWords(body, '')).toBe(message)
})

test.each(['', '<html>502</html>', '{}', '[]', '{"error":{"code":1}}', '7', 'x'.repeat(100_000)])(
  'the body %j without a message is not shown',
  (body) => {
    expect(providerWords(body, '')).toBeUndefined()
  },
)

test('a key in a message is masked before the message is cut', () => {
  expect(providerWords('wrong key hunter2!', 'hunter2')).toBe('wrong key [secret]!')
  expect(providerWords('wrong: sk-proj-abc123****xyz, AIzaSyA1234567', '')).toBe(
    'wrong: [secret], [secret]',
  )
  const cut = providerWords(`${'x'.repeat(290)} my-own-key`, 'my-own-key')
  expect(cut).toBe(`${'x'.repeat(290)} [secret]`.slice(0, 300))
})
