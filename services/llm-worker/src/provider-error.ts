import { BusError } from '@mcp-host/contracts'

/** A failure of a provider, with the pause that the provider asks for, if any. */
export class ProviderError extends BusError {}
