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
  /** The limits of the pins of one server. */
  readonly limits?: PinLimits
}

export interface PinLimits {
  /** Further tools are not recorded, and count as changed. */
  readonly tools: number
  /** Of stored definitions; of further ones only the hash is stored. */
  readonly characters: number
}

/** A server has at most 4 MB of lists, but may list other tools each time. */
const LIMITS: PinLimits = { tools: 5_000, characters: 4 * 1024 * 1024 }

/** The named tools of a server in one line of the log. */
const MAX_LOGGED = 10

/** A tool whose definition differs from the pinned one, or that is not pinned since its server has too many tools. */
export interface ChangedTool {
  readonly server: string
  readonly tool: string
  /** The pinned definition, as JSON; absent when it is not stored. */
  readonly pinned?: string | undefined
  /** The present definition, as JSON. */
  readonly current: string
}

interface Changed extends Pick<ChangedTool, 'server' | 'pinned'> {
  readonly tool: CatalogTool
}

/** The use of the limits by a server. */
interface Usage {
  tools: number
  characters: number
}

/** Compares the tools of the catalog with the definitions that were seen first. */
export class ToolPins implements Disposable {
  readonly #deps: ToolPinsDeps
  readonly #isRecorder: boolean
  readonly #limits: PinLimits
  /** Pins by their key that are being stored, or were stored and are not in the view yet. */
  readonly #recording = new Map<string, ToolPin>()
  /** Changed tools by the key of their pin. */
  readonly #changed = new Map<string, Changed>()
  readonly #listeners = new DisposableStack()
  readonly #bucket: Bucket<ToolPin>
  readonly #pins: BucketView<ToolPin>
  #mode: PinMode = 'off'

  private constructor(
    deps: ToolPinsDeps,
    { isRecorder, limits = LIMITS }: ToolPinsOptions,
    bucket: Bucket<ToolPin>,
    pins: BucketView<ToolPin>,
  ) {
    this.#deps = deps
    this.#isRecorder = isRecorder
    this.#limits = limits
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
    return Array.from(this.#changed.values(), ({ tool, ...about }) => ({
      ...about,
      tool: tool.name,
      current: definitionOf(tool),
    }))
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
    await this.#bucket.put(key, pinOf(server, found.tool, admin))
  }

  /**
   * Removes the pins of a server that is not configured, after `record` has recorded it, and returns their number. Throws
   * `not-found` and `invalid`, and errors of `record`.
   */
  async forget(
    server: string,
    record: () => Promise<void> = async () => undefined,
  ): Promise<number> {
    const isConfigured = this.#deps.catalog.entries.values().some((entry) => {
      if (entry.kind === 'supervisor') return entry.configured?.includes(server) === true
      return entry.kind === 'server' && entry.server === server
    })
    if (isConfigured) {
      const remedy = 'remove it from mcp.json first, or accept its tools'
      throw new BusError('invalid', `the server "${server}" is configured: ${remedy}`)
    }
    const keys = this.#pins.records
      .entries()
      .flatMap(([key, pin]) => (pin.server === server ? [key] : []))
    const found = [...keys]
    if (found.length === 0) throw new BusError('not-found', `no tool of "${server}" is recorded`)
    await record()
    for (const key of found) await this.#bucket.remove(key)
    return found.length
  }

  [Symbol.dispose](): void {
    this.#listeners[Symbol.dispose]()
  }

  #compare(): void {
    const { catalog, onChange } = this.#deps
    const before = new Set(this.#changed.keys())
    this.#changed.clear()
    const usage = this.#usage()
    for (const entry of this.#mode === 'off' ? [] : catalog.entries.values()) {
      if (entry.kind !== 'server' || entry.state !== 'ready') continue
      const used = usage.get(entry.server) ?? { tools: 0, characters: 0 }
      usage.set(entry.server, used)
      for (const tool of entry.tools) this.#check(entry.server, tool, used)
    }
    const added = [...this.#changed].flatMap(([key, each]) => (before.has(key) ? [] : [each]))
    for (const [server, tools] of Map.groupBy(added, (each) => each.server))
      this.#warn(server, tools)
    if (added.length > 0 || before.size !== this.#changed.size) onChange?.()
  }

  #warn(server: string, changed: readonly Changed[]): void {
    const tools = changed.slice(0, MAX_LOGGED).map(({ tool }) => tool.name)
    const { length: count } = changed
    const fields = { component: 'policy', action: 'tool-changed', server, tools, count }
    const isKept = this.#mode === 'quarantine'
    const end = isKept ? '; they are in quarantine until an admin accepts them' : ''
    this.#deps.logger.warn(fields, `definitions of tools have changed${end}`)
  }

  /** What is stored of each server. */
  #usage(): Map<string, Usage> {
    const { records } = this.#pins
    const usage = new Map<string, Usage>()
    const add = ({ server, definition = '' }: ToolPin): void => {
      const { tools, characters } = usage.get(server) ?? { tools: 0, characters: 0 }
      usage.set(server, { tools: tools + 1, characters: characters + definition.length })
    }
    records.values().forEach(add)
    for (const [key, pin] of this.#recording) {
      const seen = records.get(key)
      if (seen?.version === pin.version) this.#recording.delete(key)
      if (seen === undefined) add(pin)
    }
    return usage
  }

  #check(server: string, tool: CatalogTool, used: Usage): void {
    const key = pinKey(server, tool.name)
    const pin = this.#pins.records.get(key)
    const state = pin === undefined ? 'outdated' : comparePin(pin, tool)
    // The catalog changes more often than the view of the pins follows.
    if (state === 'same' || this.#recording.has(key)) return
    if (state === 'outdated' && (pin !== undefined || used.tools < this.#limits.tools)) {
      if (this.#isRecorder) this.#record(key, server, tool, used)
      return
    }
    this.#changed.set(key, { server, tool, pinned: pin?.definition })
  }

  #record(key: string, server: string, tool: CatalogTool, used: Usage): void {
    const { definition, ...hashOnly } = pinOf(server, tool)
    const isStored = used.characters + (definition ?? '').length <= this.#limits.characters
    const pin = { ...hashOnly, ...(isStored && definition !== undefined && { definition }) }
    if (!this.#pins.records.has(key)) used.tools += 1
    used.characters += (pin.definition ?? '').length
    this.#recording.set(key, pin)
    this.#store(key, pin, tool).catch((err: unknown) => {
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
  async #store(key: string, pin: ToolPin, tool: CatalogTool): Promise<void> {
    const { record, revision = 0 } = (await this.#bucket.get(key)) ?? {}
    // The view may lag.
    if (record !== undefined && comparePin(record, tool) !== 'outdated') return
    const { acceptedBy } = record ?? {}
    const kept = record === undefined ? {} : { pinnedAt: record.pinnedAt }
    await this.#bucket.put(
      key,
      { ...pin, ...(acceptedBy !== undefined && { acceptedBy }), ...kept },
      { revision },
    )
  }
}
