import type { Bucket, BucketView, CatalogView } from '@mcp-host/bus'
import type { CatalogTool } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import type { PinMode } from '@mcp-host/policy'
import type { ToolPin } from '@mcp-host/policy/tool-pin'
import { comparePin, definitionOf, pinKey, pinOf, toolPins } from '@mcp-host/policy/tool-pin'
import { Gauge } from 'prom-client'
import type { ServiceDeps } from './run-service.ts'

export interface ToolPinsDeps extends Pick<ServiceDeps, 'bus' | 'logger'> {
  /** Counters for changed tools; absent: they are not counted. */
  readonly metrics?: ServiceDeps['metrics']
  readonly catalog: Pick<CatalogView, 'entries' | 'onChange'>
  /** Called after each change of the quarantine. */
  readonly onChange?: () => void
}

export interface ToolPinsOptions {
  /** Whether this process records tools that are seen for the first time. */
  readonly isRecorder: boolean
}

/** A tool whose definition differs from the pinned one. */
export interface ChangedTool {
  readonly server: string
  readonly tool: string
  /** The pinned definition, as JSON; absent when it is too large to be stored. */
  readonly pinned?: string | undefined
  /** The present definition, as JSON. */
  readonly current: string
}

/** Compares the tools of the catalog with the definitions that were seen first. */
export class ToolPins implements Disposable {
  readonly #deps: ToolPinsDeps
  readonly #isRecorder: boolean
  /** Keys of pins that are being stored, or were stored by this process. */
  readonly #recording = new Set<string>()
  /** Changed tools by the key of their pin, with their present definition. */
  readonly #changed = new Map<string, readonly [about: ChangedTool, definition: CatalogTool]>()
  readonly #listeners = new DisposableStack()
  readonly #bucket: Bucket<ToolPin>
  readonly #pins: BucketView<ToolPin>
  #mode: PinMode = 'off'

  private constructor(
    deps: ToolPinsDeps,
    { isRecorder }: ToolPinsOptions,
    bucket: Bucket<ToolPin>,
    pins: BucketView<ToolPin>,
  ) {
    this.#deps = deps
    this.#isRecorder = isRecorder
    this.#bucket = bucket
    this.#pins = pins
    this.#listeners.use(deps.catalog.onChange(() => this.#compare()))
    this.#listeners.use(pins.onChange(() => this.#compare()))
    if (deps.metrics === undefined) return
    const gauge: Gauge = new Gauge({
      name: 'mcp_host_changed_tools',
      help: 'Tools whose definition differs from the pinned one',
      registers: [deps.metrics],
      collect: () => gauge.set(this.#changed.size),
    })
  }

  /** Reads the pins. Comparison begins with `setMode`. Throws `unavailable`. */
  static async open(deps: ToolPinsDeps, options: ToolPinsOptions): Promise<ToolPins> {
    const bucket = await deps.bus.bucket(toolPins)
    return new ToolPins(deps, options, bucket, await bucket.watch())
  }

  /** `mode`: the policy's `pin`. */
  setMode(mode: PinMode): void {
    this.#mode = mode
    this.#compare()
  }

  get hasQuarantined(): boolean {
    return this.#mode === 'quarantine' && this.#changed.size > 0
  }

  /** Whether a tool is blocked until an admin accepts its change. */
  isQuarantined(server: string, tool: string): boolean {
    return this.hasQuarantined && this.#changed.has(pinKey(server, tool))
  }

  changed(): ChangedTool[] {
    return Array.from(this.#changed.values(), ([about]) => about)
  }

  /**
   * Pins the present definition of a changed tool, after `record` has recorded the acceptance. Throws `not-found`, and
   * errors of `record`.
   */
  async accept(
    server: string,
    tool: string,
    admin: string,
    record: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const key = pinKey(server, tool)
    const found = this.#changed.get(key)
    if (found === undefined) {
      throw new BusError('not-found', `the tool "${tool}" of "${server}" has no change to accept`)
    }
    await record()
    await this.#bucket.put(key, pinOf(server, found[1], admin))
  }

  [Symbol.dispose](): void {
    this.#listeners[Symbol.dispose]()
  }

  #compare(): void {
    const { catalog, logger, onChange } = this.#deps
    const before = new Set(this.#changed.keys())
    this.#changed.clear()
    for (const entry of this.#mode === 'off' ? [] : catalog.entries.values()) {
      if (entry.kind !== 'server' || entry.state !== 'ready') continue
      for (const tool of entry.tools) this.#check(entry.server, tool)
    }
    for (const [key, [{ server, tool }]] of this.#changed) {
      if (before.has(key)) continue
      const fields = { component: 'policy', action: 'tool-changed', server, tool }
      const isKept = this.#mode === 'quarantine'
      const end = isKept ? '; it is in quarantine until an admin accepts it' : ''
      logger.warn(fields, `the definition of a tool has changed${end}`)
    }
    const isSame =
      before.size === this.#changed.size && before.values().every((key) => this.#changed.has(key))
    if (!isSame) onChange?.()
  }

  #check(server: string, tool: CatalogTool): void {
    const key = pinKey(server, tool.name)
    const pin = this.#pins.records.get(key)
    const state = pin === undefined ? 'outdated' : comparePin(pin, tool)
    if (state === 'outdated' && this.#isRecorder) this.#record(key, server, tool)
    if (pin === undefined || state !== 'changed') return
    const about = { pinned: pin.definition, current: definitionOf(tool) }
    this.#changed.set(key, [{ server, tool: tool.name, ...about }, tool])
  }

  #record(key: string, server: string, tool: CatalogTool): void {
    // The catalog changes more often than the view of the pins follows.
    if (this.#recording.has(key)) return
    this.#recording.add(key)
    this.#store(key, server, tool).catch((err: unknown) => {
      this.#recording.delete(key)
      // Another process has stored the pin.
      if (BusError.from(err).code === 'conflict') return
      const fields = { component: 'policy', action: 'pin', server, tool: tool.name, err }
      this.#deps.logger.warn(
        fields,
        'a tool was not recorded; it is tried again with the next change',
      )
    })
  }

  /** Stores the first pin of a tool, or replaces one of an older version. */
  async #store(key: string, server: string, tool: CatalogTool): Promise<void> {
    const { record, revision = 0 } = (await this.#bucket.get(key)) ?? {}
    // The view may lag.
    if (record !== undefined && comparePin(record, tool) !== 'outdated') return
    const kept = record === undefined ? {} : { pinnedAt: record.pinnedAt }
    await this.#bucket.put(
      key,
      { ...pinOf(server, tool, record?.acceptedBy), ...kept },
      { revision },
    )
  }
}
