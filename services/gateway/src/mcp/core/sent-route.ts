import type { MergedListing } from './merged-listing.ts'
import type { Route } from './route-request.ts'

/** The call of a tool with the arguments that its server will get, so that a user approves what runs. */
export async function sentRoute(route: Route, listing: MergedListing): Promise<Route> {
  const { place, params } = route
  if (params['arguments'] === undefined) return route
  const args = await listing.sentArguments(place, params['arguments'])
  return { ...route, params: { ...params, arguments: args } }
}
