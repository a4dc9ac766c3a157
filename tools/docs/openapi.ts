import { openApiDocument } from '@mcp-host/gateway/openapi'

/** The description of the gateways' HTTP API, for tools that read OpenAPI. */
export async function openApi(): Promise<string> {
  return `${JSON.stringify(await openApiDocument(), undefined, 2)}\n`
}
