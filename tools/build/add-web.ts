import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { buildWeb, webFolder } from '../web/build-web.ts'

/** Puts the built web UI beside the gateway, as `web`. */
export async function addWeb(folder: string): Promise<void> {
  const built = await webFolder()
  await buildWeb(built)
  await cp(built, join(folder, 'web'), { recursive: true })
}
