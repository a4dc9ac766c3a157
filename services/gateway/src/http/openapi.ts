import swagger from '@fastify/swagger'
import { VERSION } from '@mcp-host/service'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'

/** Makes a document of all tagged routes that are added after it, by their schemas: `app.swagger()`. */
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

/** Mends what the libraries get wrong. */
function tidy<T extends object>(document: T): T {
  const paths = JSON.stringify('paths' in document ? document.paths : {})
  const mend = (key: string, value: unknown): unknown => {
    // Answers may get further fields. Nothing that is sent is refused for them either.
    if (key === 'additionalProperties' && value === false) return undefined
    if (typeof value !== 'object' || value === null) return value
    // Any JSON: the reference to its recursive schema leads nowhere.
    if ('$ref' in value && String(value.$ref).includes('__shared')) {
      const { $ref: _, ...words } = value
      return words
    }
    // A body with a default need not be sent.
    if ('required' in value && 'content' in value && hasDefault(value.content)) {
      return { ...value, required: false }
    }
    if ('operationId' in value) return withFile(value)
    if (key !== 'schemas') return value
    // All that have a name anywhere in the process are listed, and again as what requests would have.
    const used = Object.entries(value).filter(([name]) =>
      paths.includes(`"#/components/schemas/${name}"`),
    )
    return Object.fromEntries(used)
  }
  return JSON.parse(JSON.stringify(document), mend) as T
}

const FILE = { content: { '*/*': { schema: { type: 'string', format: 'binary' } } } }

/** Bodies that are a file have no schema of zod's. */
function withFile(operation: { readonly operationId?: unknown }): object {
  if (operation.operationId === 'storeFile') {
    return { ...operation, requestBody: { required: true, ...FILE } }
  }
  if (operation.operationId !== 'getFile') return operation
  const { responses } = operation as { readonly responses?: object }
  return { ...operation, responses: { 200: { description: 'The file.', ...FILE }, ...responses } }
}

function hasDefault(content: unknown): boolean {
  const { schema } = (content as Record<string, { schema?: object }>)['application/json'] ?? {}
  return schema !== undefined && 'default' in schema
}
