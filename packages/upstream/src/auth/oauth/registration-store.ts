import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client'

/** Keeps the registrations of the application at authorization servers. They may have secrets. */
export interface RegistrationStore {
  load(issuer: string): Promise<OAuthClientInformationMixed | undefined>
  /** `undefined`: the authorization server does not know it any more. */
  save(issuer: string, client: OAuthClientInformationMixed | undefined): Promise<void>
}
