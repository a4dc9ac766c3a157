import { expect, onTestFinished, vi } from 'vitest'

import {
  MCPHost,
  type MCPHostOptions,
  type ServerConfig,
  type ServerSnapshot,
} from '../src/index.ts'
import { textOf, Workspace } from '@mcp-host/mcp-testkit'

export interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error'
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/** A host in a workspace of its own. Both are disposed after the test, which fails when a process remains. */
export class HostStage {
  readonly host: MCPHost
  readonly workspace: Workspace
  readonly logged: readonly LogLine[]

  private constructor(host: MCPHost, workspace: Workspace, logged: readonly LogLine[]) {
    this.host = host
    this.workspace = workspace
    this.logged = logged
  }

  static async open(options: Partial<MCPHostOptions> = {}): Promise<HostStage> {
    const workspace = await Workspace.open()
    const logged: LogLine[] = []
    const log =
      (level: LogLine['level']) =>
      (fields: object, message: string): void =>
        void logged.push({ level, fields: { ...fields }, message })
    const host = new MCPHost({
      env: { PATH: process.env['PATH'] },
      logger: {
        trace: log('trace'),
        debug: log('debug'),
        info: log('info'),
        warn: log('warn'),
        error: log('error'),
      },
      stopGraceMs: 500,
      startRetries: 0,
      ...options,
    })
    onTestFinished(async () => {
      vi.useRealTimers()
      await host.shutdown()
      const remaining = workspace.processes()
      await workspace[Symbol.asyncDispose]()
      expect(remaining).toEqual([])
    })
    return new HostStage(host, workspace, logged)
  }

  static async start(
    servers: (workspace: Workspace) => Record<string, ServerConfig>,
    options: Partial<MCPHostOptions> = {},
  ): Promise<HostStage> {
    const stage = await HostStage.open(options)
    await stage.host.initialize({ servers: servers(stage.workspace) })
    return stage
  }

  find(name: string): ServerSnapshot {
    const found = this.host.getServers().find((server) => server.name === name)
    if (found === undefined) throw new Error(`there is no server "${name}"`)
    return found
  }

  toolsOf(name: string): string[] {
    return this.find(name).tools.map((tool) => tool.name)
  }

  /** Calls a tool and returns the text of the result. */
  async call(tool: string, args: Record<string, unknown> = {}): Promise<string> {
    return textOf(await this.host.callTool(tool, args))
  }

  /** The log lines whose message includes `message`. */
  lines(message: string): readonly LogLine[] {
    return this.logged.filter((line) => line.message.includes(message))
  }
}
