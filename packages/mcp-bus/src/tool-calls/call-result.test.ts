import { BusError, toolOutcome } from '@mcp-host/contracts'
import { ConfigurationError } from '@mcp-host/mcp-json'
import {
  ProtocolError,
  ServerUnavailableError,
  TimeoutError,
  ValidationError,
} from '@mcp-host/upstream'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  EXCERPT_LENGTH,
  fromError,
  fromResult,
  MAX_INLINE_BYTES,
  MAX_RESULT_BYTES,
} from './call-result.ts'

const content = [{ type: 'text' as const, text: 'sunny' }]
const blob = { key: 'k', bytes: 1, digest: 'SHA-256=x' }
const image = {
  type: 'image' as const,
  data: 'A'.repeat(MAX_INLINE_BYTES),
  mimeType: 'image/png',
}

let stored: string[]
beforeEach(() => {
  stored = []
})
const store = async (bytes: Uint8Array): Promise<typeof blob> => {
  stored.push(Buffer.from(bytes).toString())
  return blob
}
const texts = ({ content: blocks }: Awaited<ReturnType<typeof fromResult>>): unknown[] =>
  blocks.map(({ text }) => text)

test('a result that fits into the log is recorded unchanged', async () => {
  expect(await fromResult({ content, structuredContent: { degrees: 20 } }, store)).toEqual({
    outcome: 'ok',
    content,
    structuredContent: { degrees: 20 },
  })
  expect(stored).toEqual([])
})

test("a tool's own error is recorded as an outcome without an error of the host", async () => {
  expect(await fromResult({ content, isError: true }, store)).toEqual({ outcome: 'error', content })
})

describe('results that are too large for the log', () => {
  const empty = JSON.stringify({ content: [{ type: 'text', text: '' }] })
  const sized = (bytes: number) => ({
    content: [{ type: 'text' as const, text: 'x'.repeat(bytes - empty.length) }],
  })

  test('an oversized result is stored whole, and an excerpt with its size is recorded', async () => {
    const largest = sized(MAX_INLINE_BYTES)
    expect(await fromResult(largest, store)).toEqual({ outcome: 'ok', ...largest })
    const result = sized(MAX_INLINE_BYTES + 1)
    const recorded = await fromResult(result, store)
    expect(stored).toEqual([JSON.stringify(result)])
    expect(recorded).toMatchObject({ outcome: 'ok', blob })
    const length = result.content[0]?.text.length ?? 0
    expect(texts(recorded)).toEqual([
      'x'.repeat(EXCERPT_LENGTH),
      `… (the first ${EXCERPT_LENGTH} of ${length} characters of a result of ${MAX_INLINE_BYTES + 1} bytes; ask for less at a time)`,
    ])
  })

  test('the size of a result is counted in bytes and includes structured content', async () => {
    const structuredContent = { text: 'é'.repeat(MAX_INLINE_BYTES / 2) }
    const recorded = await fromResult({ content: [], structuredContent, isError: true }, store)
    expect(stored).toEqual([JSON.stringify({ content: [], structuredContent })])
    expect(recorded).toMatchObject({ outcome: 'error', blob })
    expect(recorded).not.toHaveProperty('structuredContent')
    expect(texts(recorded)[0]).toMatch(/^\{"text":"é+$/)
  })

  test('an oversized result is encoded without blocking the event loop', async () => {
    const result = {
      content: [{ type: 'text' as const, text: 'é"👋\n'.repeat(1_000_000) }],
      structuredContent: { a: 1 },
    }
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    const recorded = await fromResult(result, store)
    clearInterval(timer)
    expect(ticks).toBeGreaterThan(1)
    expect(stored).toEqual([JSON.stringify(result)])
    expect(recorded).toMatchObject({ outcome: 'ok', blob })
  })

  test('an oversized result that no worker thread can encode is stored, too', async () => {
    const text = { type: 'text' as const, text: 'x'.repeat(5_000_000), _meta: { f: () => 1 } }
    const recorded = await fromResult({ content: [text] }, store)
    expect(stored).toEqual([JSON.stringify({ content: [text] })])
    expect(recorded).toMatchObject({ outcome: 'ok', blob })
  })

  test('images are stored one by one when the rest of the result fits into the log', async () => {
    const { data, ...rest } = image
    const recorded = await fromResult({ content: [...content, image] }, store)
    expect(recorded).toEqual({ outcome: 'ok', content: [...content, { ...rest, stored: blob }] })
    expect(stored).toEqual([Buffer.from(data, 'base64').toString()])
  })

  test('a result that is oversized without its images is recorded as an excerpt', async () => {
    const large = sized(MAX_INLINE_BYTES + 1)
    const { data: _, ...rest } = image
    const recorded = await fromResult({ content: [...large.content, image] }, store)
    const light = { content: [...large.content, { ...rest, stored: blob }] }
    expect(stored[1]).toBe(JSON.stringify(light))
    expect(recorded).toMatchObject({
      blob,
      content: [{ type: 'text' }, { type: 'text' }, { stored: blob }],
    })
  })

  test('a reference to a stored file that a server sends is removed', async () => {
    const forged = { key: '', bytes: 0, digest: '' }
    const recorded = await fromResult(
      {
        content: [
          { ...image, data: 'AAAA', stored: forged },
          { type: 'resource', resource: { uri: 'x://y', text: 'a', stored: forged } },
        ],
        // The type knows no `stored`, which only a forger would send.
      } as unknown as Parameters<typeof fromResult>[0],
      store,
    )
    expect(JSON.stringify(recorded)).not.toContain('stored')
  })

  test('images that cannot be stored are described as text', async () => {
    const recorded = await fromResult({ content: [...content, image] }, async () => undefined)
    expect(texts(recorded)[0]).toBe('sunny\n[image image/png]')
  })

  test('an excerpt is not cut inside a character', async () => {
    const text = `x${'👋'.repeat(MAX_INLINE_BYTES / 4)}`
    const [shown] = texts(await fromResult({ content: [{ type: 'text', text }] }, store))
    expect(shown).toBe(String(shown).toWellFormed())
  })

  test('an oversized result that cannot be stored is recorded as an excerpt', async () => {
    const recorded = await fromResult(sized(MAX_INLINE_BYTES + 1), async () => undefined)
    expect(recorded).toMatchObject({ outcome: 'ok', content: [{ type: 'text' }, { type: 'text' }] })
    expect(recorded).not.toHaveProperty('blob')
  })

  test('a result beyond the limit of the store ends its call with an error', async () => {
    expect(await fromResult(sized(MAX_RESULT_BYTES + 1), store)).toEqual({
      outcome: 'error',
      content: [],
      error: { code: 'exhausted', message: expect.stringContaining('67108865 bytes') },
    })
    expect(stored).toEqual([])
  })
})

test.each([
  [new ValidationError('text must be a string', [], {}), 'invalid'],
  [new TimeoutError('it took too long', 5, {}), 'deadline'],
  [new ServerUnavailableError('it is not running', {}), 'unavailable'],
  [new ProtocolError('it answered nonsense', undefined, {}), 'internal'],
  [new ConfigurationError([]), 'internal'],
  [new BusError('cancelled', 'the call was cancelled'), 'cancelled'],
])('the message of "%s" is recorded unchanged', (error, code) => {
  expect(fromError(error)).toEqual({
    outcome: 'error',
    content: [],
    error: { code, message: error.message },
  })
})

test.each([
  [true, 'unknown'],
  [false, 'error'],
])(
  'a call that ends with its server and isOutcomeUnknown = %s has the outcome %s',
  (isOutcomeUnknown, outcome) => {
    const error = new ServerUnavailableError('it ended', { isOutcomeUnknown })
    expect(toolOutcome(fromError(error))).toBe(outcome)
  },
)

test('the message of an error is cut to 8 KiB', () => {
  const { error } = fromError(new ProtocolError(`x${'👋'.repeat(1_000_000)}`, undefined, {}))
  expect(error?.message).toMatch(/^x(👋)+/u)
  expect(error?.message).toHaveLength(8 * 1024)
  expect(error?.message.isWellFormed()).toBe(true)
})

test('an internal error is recorded without its details', () => {
  expect(fromError(new TypeError('secret of undefined')).error).toEqual({
    code: 'internal',
    message: 'internal error',
  })
})
