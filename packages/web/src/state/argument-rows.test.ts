import { expect, test } from 'vitest'
import { argumentRows } from './argument-rows.ts'

test('arguments have their type, whether they are required, and their description', () => {
  const schema = {
    type: 'object',
    properties: {
      path: { type: 'string', title: 'Path', description: 'Folder to begin in' },
      globs: { type: 'array', items: { type: 'string' } },
      mode: { enum: ['a', 'b'], description: 'How' },
      size: { type: ['integer', 'null'] },
    },
    required: ['path'],
  }
  expect(argumentRows(schema)).toEqual([
    { name: 'path', type: 'text', isRequired: true, description: 'Path: Folder to begin in' },
    { name: 'globs', type: 'list of text', isRequired: false, description: '' },
    { name: 'mode', type: 'one of a list', isRequired: false, description: 'How' },
    { name: 'size', type: 'integer or null', isRequired: false, description: '' },
  ])
})

test.each([
  {},
  { properties: null },
  { properties: 'x', required: 7 },
  { properties: { a: null }, required: [null] },
])('a schema that is none (%j) throws nothing', (schema) => {
  for (const row of argumentRows(schema)) expect(row).toMatchObject({ type: 'anything' })
})
