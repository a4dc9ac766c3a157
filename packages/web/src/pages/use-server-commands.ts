import type { Tool } from '@mcp-host/client'
import { useEffect, useState } from 'react'
import { host } from '../state/host.ts'
import { servers } from '../state/host-state.ts'
import { serverAddress } from '../state/route.ts'
import { useStore } from '../state/store.ts'

/** An entry of the palette. */
export interface Command {
  readonly id: string
  readonly name: string
  /** What it is, where the name does not say it. */
  readonly about?: string
  readonly run: () => void
}

/** MCP servers and their tools for the palette. The tools are read each time that it opens. */
export function useServerCommands(isOpen: boolean): {
  readonly ofServers: readonly Command[]
  readonly ofTools: readonly Command[]
} {
  const known = useStore(servers) ?? []
  const [tools, setTools] = useState<readonly Tool[]>([])
  useEffect(() => {
    // Without the tools the palette finds the rest.
    if (isOpen) host.tools().then(setTools, () => undefined)
  }, [isOpen])
  const ofServers = known.map(({ server }) => commandOf(server, server, 'Server'))
  const ofTools = known.flatMap(({ server }) => {
    const prefix = `${server}__`
    return tools
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name }) => commandOf(name, name.slice(prefix.length), `Tool of ${server}`, server))
  })
  return { ofServers, ofTools }
}

/** `server`: that of a tool. */
function commandOf(id: string, name: string, about: string, server?: string): Command {
  const address = server === undefined ? serverAddress(name) : serverAddress(server, name)
  const run = (): void => {
    location.hash = address
  }
  return { id: `${about} ${id}`, name, about, run }
}
