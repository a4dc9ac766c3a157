import { globSync, watch } from 'node:fs'
import { rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Say } from '../host/keep-running.ts'
import { readRunFile } from '../host/run-file.ts'
import type { ServiceName } from '../host/service-process.ts'
import { SERVICES } from '../host/service-process.ts'
import { buildWeb, webFolder } from '../web/build-web.ts'

const root = join(import.meta.dirname, '..', '..')
/** Editors write a file in several steps, and several files at once. */
const PAUSE_MS = 300
const SOURCE = /\.(ts|tsx|css|html|svg|json)$/
const TEST = /(\.test\.ts$|__fixtures__)/
/** Packages that no service runs. */
const WEB = new Set(['web', 'client'])

/**
 * Restarts services whose sources change, until disposed: the successor starts first, so chats go on. `web`: the link to
 * the folder of the web UI.
 */
export function followSources(dataDir: string, web: string, say: Say): Disposable {
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  const restart = async (): Promise<void> => {
    const files = Array.from(changed)
    changed.clear()
    const services = new Set(files.flatMap(servicesOf))
    say('sources', `${files.slice(0, 3).join(', ')}${files.length > 3 ? ' …' : ''} changed`)
    try {
      if (files.some(isWeb)) await linkWeb(web)
    } catch (error) {
      say('sources', `the web UI was not built: ${String(error)}`)
      return
    }
    for (const { name, pid } of readRunFile(dataDir)?.processes ?? []) {
      if (services.has(name as ServiceName)) stop(pid)
    }
  }
  const watchers = globSync('{services,packages}/*/src', { cwd: root }).map((folder) =>
    watch(join(root, folder), { recursive: true }, (_, file) => {
      const path = join(folder, file ?? '')
      if (!SOURCE.test(path) || TEST.test(path)) return
      changed.add(path)
      clearTimeout(timer)
      timer = setTimeout(() => void restart(), PAUSE_MS)
    }),
  )
  return {
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const each of watchers) each.close()
    },
  }
}

/** A process that has just ended is started again anyway. */
function stop(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Builds the web UI, and makes the link lead to it. */
export async function linkWeb(link: string): Promise<void> {
  const folder = webFolder()
  await buildWeb(folder)
  const draft = `${link}.new`
  await rm(draft, { force: true })
  await symlink(folder, draft, 'junction')
  await rename(draft, link)
}

/** The services that run a file. The gateway reads the files of the web UI at its start. */
function servicesOf(file: string): readonly ServiceName[] {
  const [kind, name = ''] = file.split(/[\\/]/)
  if (kind === 'services') return SERVICES.filter((service) => service === name)
  return WEB.has(name) ? ['gateway'] : SERVICES
}

function isWeb(file: string): boolean {
  const [kind, name = ''] = file.split(/[\\/]/)
  return kind === 'packages' && WEB.has(name)
}
