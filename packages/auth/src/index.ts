export {
  AccountName,
  AccountRecord,
  accountPrincipalId,
  isProviderUser,
  principalOfAccount,
} from './account.ts'
export type { AccountChanges, NewAccount } from './accounts.ts'
export { Accounts, FIRST_ADMIN_MAKER, isLoginValid, accountExists, noAccount } from './accounts.ts'
export {
  ApiKeyRecord,
  apiKeys,
  holderOfKey,
  holdersOfKey,
  keysMadeBy,
  newApiKey,
  parseApiKey,
  principalOfKey,
  scopesOfKey,
} from './api-key.ts'
export type { AuthFault } from './auth-error.ts'
export { AuthError } from './auth-error.ts'
export { challenge } from './challenge.ts'
export type { Invitation, InvitationToken } from './invitations.ts'
export { invitationLink, Invitations } from './invitations.ts'
export { KeyRing, rotateKeys, TOKEN_SECONDS } from './key-ring.ts'
export { limitedFetch } from './limited-fetch.ts'
export { Makers, makersIn } from './makers.ts'
export type { ClaimMapping, OidcOptions, PublicKeys, VerifiedToken } from './oidc.ts'
export { claimAt, issuerOf, OidcVerifier, principalOfClaims } from './oidc.ts'
export {
  newOperatorKey,
  OPERATOR_KEY,
  operatorKeyRecord,
  operatorKeySetting,
} from './operator-key.ts'
export { hashPassword, isPassword, passwordFault } from './password.ts'
export type { ResourceMetadata } from './resource-metadata.ts'
export { describedResource, resourceMetadata, resourceMetadataUrl } from './resource-metadata.ts'
export { TokenCache } from './token-cache.ts'
