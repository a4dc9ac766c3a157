import { Validator } from '@seriousme/openapi-schema-validator'
import { beforeAll, expect, test } from 'vitest'
import { FRONT_PAGE } from './front-page.ts'
import { openApiDocument } from './openapi-document.ts'

interface Operation {
  readonly responses: object
  readonly requestBody?: { readonly required: boolean }
}

let document: {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}
beforeAll(async () => {
  document = (await openApiDocument()) as typeof document
})

test('the OpenAPI document is valid', async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
})

test('every reference of the OpenAPI document has a target', () => {
  const names = Array.from(JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g), ([, to]) => to)
  const missing = Array.from(new Set(names)).filter(
    (to = '') =>
      to
        .split('/')
        .slice(1)
        .reduce<unknown>(
          (at, key) => (at as Record<string, unknown> | undefined)?.[key],
          document,
        ) === undefined,
  )
  expect(missing).toEqual([])
})

test('the OpenAPI document has the routes of the front page, each with answers and errors', () => {
  const listed = Array.from(
    FRONT_PAGE.matchAll(/^(\w+) +(\/(?:api|capabilities|mcp\/(?:tools|prompts|resources))\b\S*)/gm),
    ([, method, path]) => `${method} ${path}`.replaceAll(/:(\w+)/g, '{$1}'),
  )
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.toSorted()).toEqual(listed.toSorted())
  for (const operation of Object.values(document.paths).flatMap(Object.values)) {
    expect(operation).toMatchObject({ operationId: /./, summary: /./ })
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['400', '403', '500']))
    expect(Object.keys(operation.responses).join()).toMatch(/\b2\d\d\b/)
  }
})

test('the route of files has the file as its body', () => {
  const { post } = document.paths['/api/chat/session/{id}/file'] ?? {}
  expect(post?.requestBody).toEqual({
    required: true,
    content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
  })
})

test('every named field of an answer has a description, except for discriminators', () => {
  const silent: string[] = []
  const look = (at: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, each] of Object.entries(value)) look(`${at}/${key}`, each)
    if (!('properties' in value)) return
    for (const [name, field] of Object.entries(value.properties as Record<string, object>)) {
      if (!('description' in field) && !('const' in field)) silent.push(`${at}/${name}`)
    }
  }
  look('', document.components.schemas)
  expect(silent).toEqual([])
  for (const schema of Object.values(document.components.schemas)) {
    expect(schema).toMatchObject({ description: /./ })
  }
})

test('the OpenAPI document allows unknown fields', () => {
  expect(JSON.stringify(document).includes('"additionalProperties":false')).toBe(false)
})

test('optional bodies are not required', () => {
  const isRequired = (path: string): boolean | undefined =>
    document.paths[`/api/chat/session${path}`]?.['post']?.requestBody?.required
  expect(['', '/{id}/abort', '/{id}/message'].map(isRequired)).toEqual([false, false, true])
})
