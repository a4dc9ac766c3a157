import { fillSubject, formatCursor, matchSubject, parseCursor } from '@mcp-host/contracts'
import * as fc from 'fast-check'
import { ArgumentValidator, Tool } from '@mcp-host/upstream'
import { LineSplitter } from '@mcp-host/process'
import { joinToolNames, safeToolNames } from '@mcp-host/mcp'
import { eventIds, readEventId, StateSeal } from '@mcp-host/mcp-endpoint'
import { newSession, readSession } from '@mcp-host/mcp-endpoint/testing'
import { expect, test } from 'vitest'
import { ToolCallSplitter } from '../services/llm-worker/src/json-tools/tool-call-splitter.ts'
import { anyJson, anyText } from './arbitraries.ts'

const token = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/)

test('a cursor is parsed from its text, and any parsed text is a cursor', () => {
  const cursor = fc.record({
    seq: fc.nat({ max: 999_999_999_999_999 }),
    part: fc.nat({ max: 999_999 }),
    fence: fc.option(fc.nat({ max: 999_999_999_999_999 }), { nil: undefined }),
    offset: fc.nat({ max: 999_999_999_999 }),
  })
  fc.assert(
    fc.property(cursor, anyText, (given, text) => {
      expect(parseCursor(formatCursor(given))).toEqual(given)
      const parsed = parseCursor(text)
      if (parsed !== undefined) expect(parseCursor(formatCursor(parsed))).toEqual(parsed)
    }),
  )
})

test('a subject matches the parameters that fill it, and refuses values that widen it', () => {
  fc.assert(
    fc.property(fc.oneof(token, anyText), token, (server, client) => {
      const template = 'mcp.{server}.{client}.req'
      let subject: string
      try {
        subject = fillSubject(template, { server, client })
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
        return
      }
      expect(subject.split('.')).toHaveLength(4)
      expect(subject).not.toMatch(/[*>\s]/)
      expect(matchSubject(template, subject)).toEqual({ server, client })
    }),
  )
})

test('an event id is read as it was written, and any other id is read without an error', () => {
  const rpcId = fc.oneof(fc.maxSafeInteger(), anyText)
  fc.assert(
    fc.property(token, token, token, rpcId, anyText, (supervisor, server, id, request, other) => {
      const kept = { supervisor, server, id }
      const idOf = eventIds({ kept, request })
      // Lone surrogates have no form in UTF-8.
      if (idOf !== undefined && String(request).isWellFormed()) {
        expect(readEventId(idOf(7))).toEqual({ kept, request, progressToken: undefined, number: 7 })
      }
      readEventId(other)
      readEventId(`${other}.1`)
    }),
  )
})

test('an MCP session and a sealed state are read as they were written, and others are refused without an error', async () => {
  const seal = new StateSeal(async () => new Uint8Array(32))
  const content = fc.dictionary(fc.string(), fc.jsonValue())
  await fc.assert(
    fc.asyncProperty(content, anyText, async (given, other) => {
      const session = readSession(newSession(given))
      if (JSON.stringify(given).length < 1_000) {
        expect(session?.capabilities).toEqual(JSON.parse(JSON.stringify(given)))
      }
      expect(await seal.open(await seal.seal(given))).toEqual(JSON.parse(JSON.stringify(given)))
      readSession(`${'0'.repeat(32)}.${other}`)
      for (const text of [other, `mcp-host-sealed.${other}`, `mcp-host-sealed.${other}.${other}`]) {
        expect(await seal.open(text)).toBeUndefined()
      }
    }),
  )
})

test('every tool has a unique name that every model accepts, and that depends on the tools alone', () => {
  const identity = fc.record({
    server: fc.oneof(fc.constantFrom('a', 'a__b', 'b'), token),
    tool: fc.oneof(fc.constantFrom('b__c', 'c', '_c'), anyText),
  })
  fc.assert(
    fc.property(fc.uniqueArray(identity, { selector: (each) => JSON.stringify(each) }), (tools) => {
      const named = safeToolNames(tools)
      expect(Array.from(named.values())).toEqual(tools)
      for (const name of named.keys()) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
      expect(safeToolNames(tools)).toEqual(named)
      const join = joinToolNames(new Set(tools.map(({ server }) => server)))
      const joined = tools.map(join)
      const twice = joined.filter((name, index) => joined.indexOf(name) !== index)
      expect(twice).toEqual([])
    }),
  )
})

test('coerced arguments are valid, and are not coerced again', async () => {
  const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object')
  const scalar = fc.oneof(
    anyText,
    fc.integer(),
    fc.boolean(),
    fc.constantFrom('1', 'true', ' 2 ', '1e5'),
  )
  const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'a/b', '~1')
  const schemas = fc.uniqueArray(fc.tuple(name, type), { selector: ([each]) => each })
  const values = fc.array(fc.tuple(name, fc.oneof(scalar, anyJson)))
  await fc.assert(
    fc.asyncProperty(schemas, values, async (fields, given) => {
      const properties = Object.fromEntries(fields.map(([each, is]) => [each, { type: is }]))
      const tool = Tool.parse({ name: 't', inputSchema: { type: 'object', properties } })
      const validator = new ArgumentValidator('lenient')
      const verdict = await validator.validate(tool, Object.fromEntries(given))
      if (verdict.kind === 'valid') {
        const again = await validator.validate(tool, verdict.args)
        expect(again).toEqual({ kind: 'valid', args: verdict.args })
      }
    }),
  )
})

/** A text, and the same text split at random positions. */
const split = (whole: fc.Arbitrary<string>): fc.Arbitrary<readonly [string, string[]]> =>
  fc.tuple(whole, fc.array(fc.nat(), { maxLength: 6 })).map(([text, positions]) => {
    const at = positions.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b)
    return [text, [...at, text.length].map((end, index) => text.slice(at[index - 1] ?? 0, end))]
  })

test('lines are the same for any split of their bytes', () => {
  const text = fc
    .array(fc.oneof(fc.constantFrom('\n', '\r\n', '\r', ''), fc.string()), { maxLength: 8 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(split(text), ([whole, parts]) => {
      const linesOf = (chunks: readonly string[]): string[] => {
        const splitter = new LineSplitter({ maxLineBytes: 1_000_000, whenTooLong: 'throw' })
        const lines = chunks.flatMap((chunk) =>
          Array.from(splitter.push(Buffer.from(chunk)), String),
        )
        return [...lines, String(splitter.rest())]
      }
      expect(linesOf(parts)).toEqual(linesOf([whole]))
    }),
  )
})

test('tool calls in the text of a model are the same for any split of the text', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{"tool":"add","arguments":{"a":1}}',
      '{"tool":"none","arguments":{}}',
      '{"tool":"add"',
      '```json\n',
      '```',
      '[',
      ']',
      ',',
      '{',
      '}',
      '"',
      '\\',
      'words ',
    ),
    fc.string(),
  )
  const text = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(split(text), ([whole, parts]) => {
      const partsOf = (chunks: readonly string[]): string => {
        const splitter = new ToolCallSplitter((tool) => tool === 'add')
        const pieces = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
        return pieces
          .map((each) => (each.type === 'text-delta' ? each.text : `<${JSON.stringify(each)}>`))
          .join('')
          .replaceAll(/"id":"[^"]*"/g, '"id":""')
      }
      expect(partsOf(parts)).toBe(partsOf([whole]))
    }),
  )
})
