import { expect, test } from 'vitest'
import { needsWrapping, withLegacyOutput } from './legacy-output.ts'

const inputSchema = { type: 'object' }

test.each<[unknown, boolean]>([
  [{ type: 'array', items: { type: 'string' } }, true],
  [{ type: 'integer' }, true],
  [{ type: ['object', 'null'] }, true],
  [{ anyOf: [{ type: 'object' }, { type: 'null' }] }, true],
  [{ type: 'object' }, false],
  [undefined, false],
  [true, false],
])('the output schema %j is wrapped for legacy clients: %s', (outputSchema, isWrapped) => {
  const tool = { name: 't', inputSchema, outputSchema }
  expect(needsWrapping(tool)).toBe(isWrapped)
  const result = { type: 'object', properties: { result: outputSchema }, required: ['result'] }
  expect(withLegacyOutput(tool)).toEqual(isWrapped ? { ...tool, outputSchema: result } : tool)
})

test('references of a wrapped schema are adjusted to its position', () => {
  const outputSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'array',
    items: { anyOf: [{ $ref: '#/$defs/node' }, { $ref: '#' }, { $ref: 'https://x.test/#/a' }] },
    $defs: {
      node: { properties: { $ref: { $ref: '#anchor' }, default: { $ref: '#/$defs/node' } } },
      data: { const: { $ref: '#/kept' }, default: [{ $ref: '#' }] },
      own: { $id: 'https://x.test/own', items: { $ref: '#/kept' } },
      anchored: { $id: '#here', $dynamicRef: '#/$defs/node' },
    },
  }
  expect(withLegacyOutput({ outputSchema }).outputSchema).toEqual({
    $schema: outputSchema.$schema,
    type: 'object',
    properties: {
      result: {
        ...outputSchema,
        items: {
          anyOf: [
            { $ref: '#/properties/result/$defs/node' },
            { $ref: '#/properties/result' },
            { $ref: 'https://x.test/#/a' },
          ],
        },
        $defs: {
          ...outputSchema.$defs,
          node: {
            properties: {
              $ref: { $ref: '#anchor' },
              default: { $ref: '#/properties/result/$defs/node' },
            },
          },
          anchored: { $id: '#here', $dynamicRef: '#/properties/result/$defs/node' },
        },
      },
    },
    required: ['result'],
  })
})
