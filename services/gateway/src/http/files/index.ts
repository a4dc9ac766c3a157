import type { Api } from '../../edge/api.ts'
import type { GetFileDeps } from './get-file.ts'
import { addGetFile } from './get-file.ts'
import type { StoreFileDeps } from './store-file.ts'
import { addStoreFile } from './store-file.ts'

/** The routes for files of messages. `api` has no other routes, since a body here is a file of any type. */
export function addFileRoutes(api: Api, deps: StoreFileDeps & GetFileDeps): void {
  // `storeFile` reads the body itself, after it has checked the rest of the request.
  api.removeAllContentTypeParsers()
  api.addContentTypeParser('*', async () => undefined)
  addStoreFile(api, deps)
  addGetFile(api, deps)
}
