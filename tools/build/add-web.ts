import { chmod, cp } from 'node:fs/promises'
import { join } from 'node:path'
import { buildWeb, webFolder } from '../web/build-web.ts'

/** Puts the built web UI beside the gateway, as `web`. */
export async function addWeb(folder: string): Promise<void> {
  const built = webFolder()
  await buildWeb(built)
  const files = join(folder, 'web')
  await cp(built, files, { recursive: true })
  // The folder of the cache is for its user alone; a container has another one.
  await chmod(files, 0o755)
}
