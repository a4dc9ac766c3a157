import type { Bucket, BucketView, Bus } from '@mcp-host/bus'
import type { Maintenance } from '@mcp-host/contracts'
import { BusError, MAINTENANCE_KEY, maintenanceBucket } from '@mcp-host/contracts'
import { maintenance } from './standard-messages.ts'

/** The maintenance that an operator announces for all gateways, by a command or a route. */
export class MaintenanceState {
  readonly #bucket: Bucket<Maintenance>
  readonly #view: BucketView<Maintenance>

  private constructor(bucket: Bucket<Maintenance>, view: BucketView<Maintenance>) {
    this.#bucket = bucket
    this.#view = view
  }

  static async open(bus: Pick<Bus, 'bucket'>): Promise<MaintenanceState> {
    const bucket = await bus.bucket(maintenanceBucket)
    return new MaintenanceState(bucket, await bucket.watch())
  }

  /** Absent while there is none. */
  get current(): Maintenance | undefined {
    return this.#view.records.get(MAINTENANCE_KEY)
  }

  /** Throws `unavailable` with the message for users while there is maintenance. */
  check(): void {
    if (this.current !== undefined) {
      const reason = 'maintenance'
      throw new BusError('unavailable', maintenance(this.current.notice), { reason })
    }
  }

  async begin(announced: Maintenance): Promise<void> {
    await this.#bucket.put(MAINTENANCE_KEY, announced)
  }

  async end(): Promise<void> {
    await this.#bucket.remove(MAINTENANCE_KEY)
  }
}
