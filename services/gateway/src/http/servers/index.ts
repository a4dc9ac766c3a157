import type { Api } from '../../edge/api.ts'
import { addListFileFaults } from './list-file-faults.ts'
import { addReadServerOutput } from './read-server-output.ts'
import { addReloadServers } from './reload-servers.ts'
import { addRestartServer } from './restart-server.ts'
import { addServerUsers } from './server-users.ts'
import type { ServerRoutesDeps } from './server-routes-deps.ts'

/** The routes by which admins act on the MCP servers. */
export function addServerRoutes(api: Api, deps: ServerRoutesDeps): void {
  addListFileFaults(api, deps)
  addReadServerOutput(api, deps)
  addReloadServers(api, deps)
  addRestartServer(api, deps)
  addServerUsers(api, deps)
}
