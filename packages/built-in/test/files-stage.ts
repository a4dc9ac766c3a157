import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { readdirSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { type CallToolResult, Client, InMemoryTransport } from '@modelcontextprotocol/client'
import type { McpServer } from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'

import type { Walk } from '../src/files/access/file-tree.ts'
import type { FilesLimits, FilesRoot } from '../src/files/access/files-options.ts'
import { createFilesServer } from '../src/files/index.ts'

export const SECRET = 'the secret outside'

interface StageOptions {
  readonly roots?: readonly FilesRoot[]
  readonly readOnly?: boolean
  readonly limits?: Partial<FilesLimits>
  readonly walk?: Walk
}

/** A client of a files server whose root is the folder `work` of a temporary folder; beside it is `outside`. */
export class FilesStage implements AsyncDisposable {
  readonly folder: string
  readonly client: Client
  readonly server: McpServer

  private constructor(folder: string, client: Client, server: McpServer) {
    this.folder = folder
    this.client = client
    this.server = server
  }

  static async open({
    roots = [],
    readOnly,
    limits,
    walk,
  }: StageOptions = {}): Promise<FilesStage> {
    const stage = await FilesStage.openShared({
      roots,
      readOnly: readOnly ?? false,
      limits: limits ?? {},
      ...(walk && { walk }),
    })
    onTestFinished(() => stage[Symbol.asyncDispose]())
    return stage
  }

  /** A stage for the tests of one file, which dispose of it. */
  static async openShared({
    roots = [],
    readOnly,
    limits,
    walk,
  }: StageOptions = {}): Promise<FilesStage> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'mcp-host-files-')))
    await mkdir(join(folder, 'work'))
    await mkdir(join(folder, 'outside'))
    await writeFile(join(folder, 'outside', 'secret.txt'), SECRET)
    const work = { name: 'work', path: join(folder, 'work'), readOnly: readOnly ?? false }
    const server = createFilesServer(
      { roots: [work, ...roots], limits: limits ?? {} },
      '1.0.0',
      walk,
    )
    const client = new Client({ name: 'test', version: '1.0.0' })
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    await server.connect(theirs)
    await client.connect(ours)
    return new FilesStage(folder, client, server)
  }

  path(...names: string[]): string {
    return join(this.folder, ...names)
  }

  async write(name: string, content: string | Uint8Array = ''): Promise<void> {
    await mkdir(dirname(this.path(name)), { recursive: true })
    await writeFile(this.path(name), content)
  }

  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult> {
    return this.client.callTool({ name, arguments: args }, signal && { signal })
  }

  /** The structured output of a tool. Throws when the tool fails. */
  async output(name: string, args: Record<string, unknown>): Promise<Record<string, any>> {
    const result = await this.call(name, args)
    if (result.isError === true) throw new Error(JSON.stringify(result.content))
    return result.structuredContent ?? {}
  }

  /** The error of a tool. Throws when the tool succeeds. */
  async error(name: string, args: Record<string, unknown>): Promise<string> {
    const { isError, content } = await this.call(name, args)
    const [part] = content
    if (isError !== true || part?.type !== 'text') throw new Error(JSON.stringify(content))
    return part.text
  }

  /** Every file below a folder with its content. */
  async snapshot(name: string): Promise<Record<string, string>> {
    const entries = await readdir(this.path(name), { recursive: true, withFileTypes: true })
    const files = entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, entry.isFile() ? await readFile(path, 'latin1') : ''] as const
    })
    return Object.fromEntries(await Promise.all(files))
  }

  /** Descriptors of this process below the folder of the stage. */
  openDescriptors(): string[] {
    return readdirSync('/proc/self/fd').flatMap((descriptor) => {
      try {
        const target = readlinkSync(`/proc/self/fd/${descriptor}`)
        return target.startsWith(this.folder) ? [target] : []
      } catch {
        // That of the list itself.
        return []
      }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close()
    await rm(this.folder, { recursive: true, force: true })
  }
}
