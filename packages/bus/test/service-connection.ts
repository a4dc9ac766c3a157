import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { connect, nkeyAuthenticator } from '@nats-io/transport-node'
import type { ServiceParticipant } from '@mcp-host/contracts'
import type { Broker } from '@mcp-host/testkit'
import { readSeed } from '../src/seed-file.ts'

/** A bare connection with the credential of a service, as somebody would make it who has taken the service over. */
export class ServiceConnection implements AsyncDisposable {
  readonly service: ServiceParticipant
  readonly #connection: NatsConnection
  /** Subjects of the messages that came to `hear`. */
  readonly heard: string[] = []

  private constructor(service: ServiceParticipant, connection: NatsConnection) {
    this.service = service
    this.#connection = connection
  }

  static async open(broker: Broker, service: ServiceParticipant): Promise<ServiceConnection> {
    const connection = await connect({
      servers: new URL(broker.url).host,
      authenticator: nkeyAuthenticator(await readSeed(broker.seedFile(service) ?? '')),
      inboxPrefix: `_INBOX.${service}.STORE.forger`,
    })
    return new ServiceConnection(service, connection)
  }

  /** Subscribes, whether it is allowed or not. */
  hear(subject: string): void {
    this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) this.heard.push(message.subject)
      },
    })
  }

  /** Publishes, whether it is allowed or not. */
  publish(subject: string, data = '{}', options: { reply?: string; headers?: MsgHdrs } = {}): void {
    this.#connection.publish(subject, data, options)
  }

  /** The answer to a request; `undefined` when it is refused or nobody answers. */
  async ask(subject: string, data = ''): Promise<Msg | undefined> {
    try {
      return await this.#connection.request(subject, data, { timeout: 300 })
    } catch {
      // Refused, without a responder, or without an answer: in any case without data.
      return undefined
    }
  }

  /** Resolves when nats-server has taken all that was sent. */
  async flush(): Promise<void> {
    await this.#connection.flush()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close()
  }
}
