import { CatalogTool } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { decode, encode, encodeWellFormed } from './codec.ts'

const DEPTH = 20_000
const deep = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`
const tool = `{"name":"t","inputSchema":{"deep":${deep}}}`
const refusal = { code: 'invalid', message: 'tool: inputSchema: nested too deeply' }

test('a message that is nested too deep is refused as invalid', () => {
  const message = new TextEncoder().encode(tool)
  expect(() => decode(CatalogTool, message, 'tool')).toThrow(expect.objectContaining(refusal))
})

test('a value that is nested too deep is refused as invalid', () => {
  const value = JSON.parse(tool) as CatalogTool
  expect(() => encode(CatalogTool, value, 'tool')).toThrow(expect.objectContaining(refusal))
})

test('what is kept has no halves of characters; what passes is not changed', () => {
  const schema = z.record(z.string(), z.string())
  const value = { 'a\ud83d': 'before \ud83d after', b: '😀' }
  const kept = decode(schema, encodeWellFormed(schema, value, 'fact'), 'fact')
  expect(kept).toEqual({ 'a\ufffd': 'before \ufffd after', b: '😀' })
  expect(decode(schema, encode(schema, value, 'event'), 'event')).toEqual(value)
})
