import type { Bus } from '@mcp-host/bus'
import type { Registry } from 'prom-client'
import { Gauge } from 'prom-client'
import { exposeSamples } from './expose-samples.ts'

/** The state of nats-server as this process sees it, and the room for its data where that is known. */
export function exposeBroker(
  registry: Registry,
  bus: Pick<Bus, 'sinceOutageMs' | 'clock'> & {
    readonly storage: Pick<Bus['storage'], 'fault' | 'disk'>
  },
): void {
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_broker_connected',
    help: 'Whether the process is connected to nats-server',
    read: () => [[{}, bus.sinceOutageMs() === 0 ? 0 : 1]],
  })
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_clock_offset_seconds',
    help: 'How far the clock of this machine is ahead of that of nats-server',
    read: () => [[{}, bus.clock.offsetMs() / 1_000]],
  })
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_storage_faulty',
    help: 'Whether nats-server answers and yet does not store what the process writes',
    read: () => [[{}, bus.storage.fault() === undefined ? 0 : 1]],
  })
  exposeSamples(registry, Gauge, {
    name: 'mcp_host_store_disk_bytes',
    help: 'Disk at STORE_DIR, or NATS_MAX_FILE_STORE: its size, and the room that is left before new work is refused',
    labelNames: ['part'],
    async read() {
      const disk = await bus.storage.disk()
      if (disk === undefined) return []
      return [
        [{ part: 'size' }, disk.sizeBytes],
        [{ part: 'room' }, disk.roomBytes],
      ]
    },
  })
}
