import { rename, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** The processes of a running host, for commands that have to find it. Holds no secrets. */
export const RunFile = z.object({
  pid: z.number(),
  /** The URL of the gateway. */
  url: z.string(),
  /** The address by which clients reach it, and the ways in which they authenticate. */
  publicUrl: z.string(),
  auth: z.array(z.string()),
  processes: z.array(z.object({ name: z.string(), pid: z.number(), url: z.string().optional() })),
})
export type RunFile = z.infer<typeof RunFile>

const path = (dataDir: string): string => join(dataDir, 'run.json')

export async function writeRunFile(dataDir: string, content: RunFile): Promise<void> {
  const draft = `${path(dataDir)}.${process.pid}`
  try {
    await writeFile(draft, `${JSON.stringify(content, undefined, 2)}\n`)
    await rename(draft, path(dataDir))
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

export async function removeRunFile(dataDir: string): Promise<void> {
  await rm(path(dataDir), { force: true })
}

/** The host that runs on this data folder; `undefined` without a readable file of a living process. */
export function readRunFile(dataDir: string): RunFile | undefined {
  try {
    const file = RunFile.parse(JSON.parse(readFileSync(path(dataDir), 'utf8')))
    process.kill(file.pid, 0)
    return file
  } catch {
    // The file is missing, another version wrote it, or its host was killed: callers then treat the host as stopped.
    return undefined
  }
}
