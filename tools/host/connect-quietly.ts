import type { Bus, Credential } from '@mcp-host/bus'
import { connectBus } from '@mcp-host/bus'

/** The address of a broker, and the credential of the operators' commands. */
export interface BrokerAddress {
  /** May hold credentials. */
  readonly url: string
  readonly credential?: Credential
}

/** A log that drops everything. */
export const silentLogger = { info: () => {}, warn: () => {}, error: () => {} }

/** Connects a command to the broker, without a log. `replicas`: the number of nats-servers in the cluster. */
export function connectQuietly(broker: BrokerAddress, name: string, replicas = 1): Promise<Bus> {
  return connectBus({ ...broker, name, logger: silentLogger, replicas })
}
