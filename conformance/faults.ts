import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** Faults that are listed per scenario. The folder of results has all. */
const MAX_FAULTS = 4
const MAX_CHARACTERS = 240

const Checks = z.array(
  z.object({
    name: z.string(),
    status: z.string(),
    errorMessage: z.string().optional(),
  }),
)

/** The failed checks of a scenario. Empty when the suite has written no results. */
export async function readFaults(folder: string, scenario: string): Promise<string[]> {
  const faults = new Set<string>()
  // The name of a folder ends with the time. Names of other scenarios may begin with the same words.
  for await (const file of glob(`server-${scenario}-[0-9]*T*/checks.json`, { cwd: folder })) {
    const checks = Checks.parse(JSON.parse(await readFile(join(folder, file), 'utf8')))
    for (const { name, status, errorMessage } of checks) {
      if (status === 'SUCCESS' || status === 'INFO') continue
      faults.add(`${name}: ${shorten(errorMessage ?? status.toLowerCase())}`)
    }
  }
  const rest = faults.size - MAX_FAULTS
  return [...Array.from(faults).slice(0, MAX_FAULTS), ...(rest > 0 ? [`… and ${rest} more`] : [])]
}

function shorten(message: string): string {
  const [line = ''] = message.split('\n')
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line
}
