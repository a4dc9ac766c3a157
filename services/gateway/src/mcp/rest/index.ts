import type { Api } from '../../edge/api.ts'
import { addCallTool } from './call-tool.ts'
import type { SendBodyDeps } from './send-body.ts'
import { addGetPrompt } from './get-prompt.ts'
import { addReadResource } from './read-resource.ts'
import { addListItems } from './list-items.ts'
import type { CapabilitiesDeps } from './get-capabilities.ts'
import { addGetCapabilities } from './get-capabilities.ts'

/** The tools, prompts and resources of all MCP servers over plain HTTP and JSON. */
export function addRestRoutes(api: Api, deps: SendBodyDeps & CapabilitiesDeps): void {
  addGetCapabilities(api, deps)
  addListItems(api, deps)
  addCallTool(api, deps)
  addGetPrompt(api, deps)
  addReadResource(api, deps)
}
