import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

/** More of them rarely say more; they lie in the folder of results. */
const MOST_FAULTS = 4
const MOST_LETTERS = 240

const Checks = z.array(
  z.object({
    name: z.string(),
    status: z.string(),
    errorMessage: z.string().optional(),
  }),
)

/** What the suite has against the server in a scenario; nothing where it left no results. */
export async function readFaults(folder: string, scenario: string): Promise<string[]> {
  const faults = new Set<string>()
  // The rest of a folder's name is the time: other scenarios may begin with the same words.
  for await (const file of glob(`server-${scenario}-[0-9]*T*/checks.json`, { cwd: folder })) {
    const checks = Checks.parse(JSON.parse(await readFile(join(folder, file), 'utf8')))
    for (const { name, status, errorMessage } of checks) {
      if (status === 'SUCCESS' || status === 'INFO') continue
      faults.add(`${name}: ${shorten(errorMessage ?? status.toLowerCase())}`)
    }
  }
  const rest = faults.size - MOST_FAULTS
  return [...Array.from(faults).slice(0, MOST_FAULTS), ...(rest > 0 ? [`… and ${rest} more`] : [])]
}

function shorten(message: string): string {
  const [line = ''] = message.split('\n')
  return line.length > MOST_LETTERS ? `${line.slice(0, MOST_LETTERS)}…` : line
}
