import { aborted } from '@mcp-host/async'
import { connectTool, HostedServer } from '@mcp-host/mcp-bus/serve'
import type { ServerSnapshot, UserLogins } from '@mcp-host/upstream'
import { isLoginNeeded } from '@mcp-host/upstream'
import type { Account } from '../logins/account.ts'
import type { AccountStore } from '../logins/login-vault.ts'
import type { PlacementContext } from './placement-context.ts'

interface ListingConnectionOptions {
  /** The login that is used. */
  readonly account: Account
  readonly logins: UserLogins & { readonly store: AccountStore }
  /** Called when the login has ended. */
  readonly onLoginLost: () => void
}

/** A connection that lists what a server offers to its users, and publishes it with each change. */
export class ListingConnection implements AsyncDisposable {
  readonly account: Account
  readonly #context: PlacementContext
  readonly #hosted: HostedServer
  readonly #store: AccountStore
  #isPublished = false

  constructor(context: PlacementContext, options: ListingConnectionOptions) {
    const { account, logins, onLoginLost } = options
    this.account = account
    this.#store = logins.store
    this.#context = context
    const { deps, name, config } = context
    // Log messages concern its user.
    const callback = (): Promise<never> => Promise.reject(new Error('nobody is asked'))
    this.#hosted = new HostedServer(deps, {
      name,
      config,
      answers: { callback, kinds: [], logins },
      onChange: (snapshot) => {
        if (!this.#isPublished) return
        if (isLoginNeeded(snapshot.error)) onLoginLost()
        else context.publish(published(snapshot))
      },
    })
  }

  get isReady(): boolean {
    return this.#hosted.snapshot.state === 'ready'
  }

  /** The login that is used; `undefined` when it has none. */
  get loginId(): string | undefined {
    return this.#store.loginId
  }

  get isLoginNeeded(): boolean {
    return isLoginNeeded(this.#hosted.snapshot.error)
  }

  get output(): readonly string[] {
    return this.#hosted.output
  }

  /** Resolves when it is open, has failed, or the signal aborts. */
  async opened(over: AbortSignal): Promise<void> {
    await Promise.race([this.#hosted.started(), aborted(over)])
  }

  /** Publishes its state, from now on. */
  publish(): void {
    this.#isPublished = true
    this.#context.publish(published(this.#hosted.snapshot))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isPublished = false
    await this.#hosted[Symbol.asyncDispose]()
  }
}

/**
 * What all users are shown: without resources, which are those of one user. A server that lists nothing without a login
 * has a tool for it.
 */
function published(snapshot: ServerSnapshot): ServerSnapshot {
  const { error, isRestartPlanned: _, capabilities, ...rest } = snapshot
  if (isLoginNeeded(error)) {
    return { ...rest, state: 'ready', tools: [connectTool(snapshot.name)] }
  }
  // Nobody hears of changes of resources.
  const { resources, ...others } = capabilities ?? {}
  const shown = resources === undefined ? others : { ...others, resources: {} }
  return {
    ...snapshot,
    resources: [],
    ...(capabilities === undefined ? {} : { capabilities: shown }),
  }
}
