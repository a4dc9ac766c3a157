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

test('the description of the HTTP API is valid OpenAPI', async () => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
})

test('it refers to nothing that is not there', () => {
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

test('it has what the front page lists, each with answers and errors', () => {
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

test('a file is told to be the body', () => {
  const { post } = document.paths['/api/chat/session/{id}/file'] ?? {}
  expect(post?.requestBody).toEqual({
    required: true,
    content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
  })
})

test('every field of an answer that has a name says what it is, but for those that tell kinds apart', () => {
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

test('clients are not told to refuse fields they do not know', () => {
  expect(JSON.stringify(document).includes('"additionalProperties":false')).toBe(false)
})

test('what may be left out whole is not required', () => {
  const isRequired = (path: string): boolean | undefined =>
    document.paths[`/api/chat/session${path}`]?.['post']?.requestBody?.required
  expect(['', '/{id}/abort', '/{id}/message'].map(isRequired)).toEqual([false, false, true])
})
