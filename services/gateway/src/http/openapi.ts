import swagger from '@fastify/swagger'
import { VERSION } from '@mcp-host/service'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'

/** Documents all tagged routes that are added later, from their schemas. `app.swagger()` returns the document. */
export async function describeRoutes(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    hideUntagged: true,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'mcp-host',
        version: VERSION,
        description: 'Chat with a model that uses MCP servers. Unknown fields are ignored.',
      },
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => tidy(jsonSchemaTransformObject(document)),
  })
}

/** Corrects faults in the output of the libraries. */
function tidy<T extends object>(document: T): T {
  const paths = JSON.stringify('paths' in document ? document.paths : {})
  const mend = (key: string, value: unknown): unknown => {
    // Answers may get further fields, and requests with unknown fields are not refused.
    if (key === 'additionalProperties' && value === false) return undefined
    if (typeof value !== 'object' || value === null) return value
    // The schema of any JSON is recursive, and the reference to it does not resolve.
    if ('$ref' in value && String(value.$ref).includes('__shared')) {
      const { $ref: _, ...words } = value
      return words
    }
    // A body with a default may be omitted.
    if ('required' in value && 'content' in value && hasDefault(value.content)) {
      return { ...value, required: false }
    }
    if ('operationId' in value) return withFile(value)
    if (key !== 'schemas') return value
    // The library lists all named schemas of the process, each also in its form for requests.
    const used = Object.entries(value).filter(([name]) =>
      paths.includes(`"#/components/schemas/${name}"`),
    )
    return Object.fromEntries(used)
  }
  return JSON.parse(JSON.stringify(document), mend) as T
}

const FILE = { content: { '*/*': { schema: { type: 'string', format: 'binary' } } } }

/** A body that is a file has no zod schema. */
function withFile(operation: { readonly operationId?: unknown }): object {
  if (operation.operationId === 'storeFile') {
    return { ...operation, requestBody: { required: true, ...FILE } }
  }
  const isFile = operation.operationId === 'getFile' || operation.operationId === 'getSharedFile'
  if (!isFile) return operation
  const { responses } = operation as { readonly responses?: object }
  return { ...operation, responses: { 200: { description: 'The file.', ...FILE }, ...responses } }
}

function hasDefault(content: unknown): boolean {
  const { schema } = (content as Record<string, { schema?: object }>)['application/json'] ?? {}
  return schema !== undefined && 'default' in schema
}
