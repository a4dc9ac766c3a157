import type { Bus } from '@mcp-host/bus'
import { exposeSamples } from '@mcp-host/service'
import type { Registry } from 'prom-client'
import { Gauge } from 'prom-client'

interface LoadSources {
  readonly bus: Pick<Bus, 'sinceOutageMs'> & {
    readonly sessions: Pick<Bus['sessions'], 'unfinishedInputs'>
    readonly storage: Pick<Bus['storage'], 'streams'>
  }
  /** The sessions that this process works on. */
  readonly runs: { readonly size: number }
}

/** The work that waits and runs, and what nats-server stores. Each orchestrator reports the same of nats-server. */
export function exposeLoad(registry: Registry, { bus, runs }: LoadSources): void {
  /** During an outage, a scrape does not wait for answers. */
  const isReachable = (): boolean => bus.sinceOutageMs() > 0
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_turns_running',
    help: 'Sessions that the orchestrator works on',
    read: () => [[{}, runs.size]],
  })
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_inputs_unfinished',
    help: 'Messages and controls of all sessions that are not done: they run, or wait for a turn or an approval',
    read: async () => (isReachable() ? [[{}, await bus.sessions.unfinishedInputs()]] : []),
  })
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_stream_bytes',
    help: 'Bytes in the session logs (SESS), the files (OBJ_BLOB) and the audit log (AUDIT)',
    labelNames: ['stream'],
    async read() {
      const streams = isReachable() ? await bus.storage.streams() : []
      return streams.map(({ stream, bytes }) => [{ stream }, bytes])
    },
  })
}
