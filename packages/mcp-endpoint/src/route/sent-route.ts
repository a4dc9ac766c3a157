import type { sentArguments } from '@mcp-host/upstream/arguments'
import { isObject } from '@mcp-host/json'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { Route } from './route-request.ts'

/** Finds the arguments as a server gets them. Not imported here, where only web APIs are used. */
export type SentArguments = typeof sentArguments

/** The call of a tool with the arguments that its server will get, so that a user approves what runs. */
export async function sentRoute(
  sent: SentArguments,
  route: Route,
  listing: MergedListing,
): Promise<Route> {
  const { server, name } = route.place
  const { arguments: args } = route.params
  const inputSchema = listing.inputSchemaOf(server, name)
  if (!isObject(args) || !isObject(inputSchema)) return route
  const { validation } = listing.servers.find((each) => each.server === server) ?? {}
  const params = { ...route.params, arguments: await sent({ name, inputSchema }, args, validation) }
  return { ...route, params }
}
