import { glob, readFile } from 'node:fs/promises'

/** How often each part of the host repaired a request of MCP, from the logs in a folder: `{ connection: 3 }`. */
export async function countRecoveries(folder: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for await (const file of glob(`${folder}/**/*.log*`)) {
    const text = await readFile(file, 'utf8')
    for (const [, owner = ''] of text.matchAll(/"recoveredBy":"(\w+)"/g))
      counts[owner] = (counts[owner] ?? 0) + 1
  }
  return counts
}
