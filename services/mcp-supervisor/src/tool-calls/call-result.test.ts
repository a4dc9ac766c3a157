import { BusError, toolOutcome } from '@mcp-host/contracts'
import {
  ConfigurationError,
  ProtocolError,
  ServerUnavailableError,
  TimeoutError,
  ValidationError,
} from 'mcp-host'
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
const picture = {
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

test('a result is kept as it came', async () => {
  expect(await fromResult({ content, structuredContent: { degrees: 20 } }, store)).toEqual({
    outcome: 'ok',
    content,
    structuredContent: { degrees: 20 },
  })
  expect(stored).toEqual([])
})

test("a tool's own error is an outcome, not a failure of the host", async () => {
  expect(await fromResult({ content, isError: true }, store)).toEqual({ outcome: 'error', content })
})

describe('a result that is too large for the log', () => {
  const empty = JSON.stringify({ content: [{ type: 'text', text: '' }] })
  const sized = (bytes: number) => ({
    content: [{ type: 'text' as const, text: 'x'.repeat(bytes - empty.length) }],
  })

  test('is stored whole, and its beginning stays with a line that says how much there is', async () => {
    const largest = sized(MAX_INLINE_BYTES)
    expect(await fromResult(largest, store)).toEqual({ outcome: 'ok', ...largest })
    const result = sized(MAX_INLINE_BYTES + 1)
    const kept = await fromResult(result, store)
    expect(stored).toEqual([JSON.stringify(result)])
    expect(kept).toMatchObject({ outcome: 'ok', blob })
    const length = result.content[0]?.text.length ?? 0
    expect(texts(kept)).toEqual([
      'x'.repeat(EXCERPT_LENGTH),
      `… (the first ${EXCERPT_LENGTH} of ${length} characters of a result of ${MAX_INLINE_BYTES + 1} bytes; ask for less at a time)`,
    ])
  })

  test('has its size counted in bytes, structured content with it', async () => {
    const structuredContent = { text: 'é'.repeat(MAX_INLINE_BYTES / 2) }
    const kept = await fromResult({ content: [], structuredContent, isError: true }, store)
    expect(stored).toEqual([JSON.stringify({ content: [], structuredContent })])
    expect(kept).toMatchObject({ outcome: 'error', blob })
    expect(kept).not.toHaveProperty('structuredContent')
    expect(texts(kept)[0]).toMatch(/^\{"text":"é+$/)
  })

  test('is encoded while others have their turn', async () => {
    const result = {
      content: [{ type: 'text' as const, text: 'é"👋\n'.repeat(1_000_000) }],
      structuredContent: { a: 1 },
    }
    let turns = 0
    const others = setInterval(() => turns++, 1)
    const kept = await fromResult(result, store)
    clearInterval(others)
    expect(turns).toBeGreaterThan(1)
    expect(stored).toEqual([JSON.stringify(result)])
    expect(kept).toMatchObject({ outcome: 'ok', blob })
  })

  test('is kept also when no thread can encode it', async () => {
    const text = { type: 'text' as const, text: 'x'.repeat(5_000_000), _meta: { f: () => 1 } }
    const kept = await fromResult({ content: [text] }, store)
    expect(stored).toEqual([JSON.stringify({ content: [text] })])
    expect(kept).toMatchObject({ outcome: 'ok', blob })
  })

  test('has its pictures stored one by one, and stays whole beside them', async () => {
    const { data, ...image } = picture
    const kept = await fromResult({ content: [...content, picture] }, store)
    expect(kept).toEqual({ outcome: 'ok', content: [...content, { ...image, stored: blob }] })
    expect(stored).toEqual([Buffer.from(data, 'base64').toString()])
  })

  test('is an excerpt when it is too large without its pictures as well', async () => {
    const large = sized(MAX_INLINE_BYTES + 1)
    const { data: _, ...image } = picture
    const kept = await fromResult({ content: [...large.content, picture] }, store)
    const light = { content: [...large.content, { ...image, stored: blob }] }
    expect(stored[1]).toBe(JSON.stringify(light))
    expect(kept).toMatchObject({
      blob,
      content: [{ type: 'text' }, { type: 'text' }, { stored: blob }],
    })
  })

  test('does not say itself where something is stored', async () => {
    const forged = { key: '', bytes: 0, digest: '' }
    const kept = await fromResult(
      {
        content: [
          { ...picture, data: 'AAAA', stored: forged },
          { type: 'resource', resource: { uri: 'x://y', text: 'a', stored: forged } },
        ],
        // The type knows no `stored`, which only a forger would send.
      } as unknown as Parameters<typeof fromResult>[0],
      store,
    )
    expect(JSON.stringify(kept)).not.toContain('stored')
  })

  test('of pictures that cannot be stored is described in words', async () => {
    const kept = await fromResult({ content: [...content, picture] }, async () => undefined)
    expect(texts(kept)[0]).toBe('sunny\n[image image/png]')
  })

  test('is not cut inside a character', async () => {
    const text = `x${'👋'.repeat(MAX_INLINE_BYTES / 4)}`
    const [shown] = texts(await fromResult({ content: [{ type: 'text', text }] }, store))
    expect(shown).toBe(String(shown).toWellFormed())
  })

  test('that cannot be stored is an excerpt all the same: the tool has run', async () => {
    const kept = await fromResult(sized(MAX_INLINE_BYTES + 1), async () => undefined)
    expect(kept).toMatchObject({ outcome: 'ok', content: [{ type: 'text' }, { type: 'text' }] })
    expect(kept).not.toHaveProperty('blob')
  })

  test('beyond all measure is a clear error', async () => {
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
])('%s is told to the model as it is', (error, code) => {
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
  'a call whose server went away, perhaps in mid-call (%s), is reported as %s',
  (isOutcomeUnknown, outcome) => {
    const error = new ServerUnavailableError('it ended', { isOutcomeUnknown })
    expect(toolOutcome(fromError(error))).toBe(outcome)
  },
)

test('an error of any length fits into a message', () => {
  const { error } = fromError(new ProtocolError(`x${'👋'.repeat(1_000_000)}`, undefined, {}))
  expect(error?.message).toMatch(/^x(👋)+/u)
  expect(error?.message).toHaveLength(8 * 1024)
  expect(error?.message.isWellFormed()).toBe(true)
})

test('a fault of ours is told without its details', () => {
  expect(fromError(new TypeError('secret of undefined')).error).toEqual({
    code: 'internal',
    message: 'internal error',
  })
})
