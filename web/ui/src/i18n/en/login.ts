export const login = {
  title: 'Log in',
  body: 'helmtrail acts with your token and only with your permissions. The token is sent to its own cluster and no other, and is kept in a cookie that scripts cannot read.',
  cluster: 'Cluster',
  token: 'Token',
  hint: 'A bearer token for the cluster, for example of a service account:',
  action: 'Log in',
  another: 'Log in to another cluster',
  account: 'Logged in as {{user}}',
  notRequired: 'Login is not required.',
  continue: 'Continue',
  refused: {
    title: 'The token was rejected',
    unknown: 'Cluster {{cluster}} does not accept the token. It belongs to another cluster, was not pasted completely, or is no longer valid.',
    expired: 'The token expired on {{time}}. Get a new one for cluster {{cluster}}.',
  },
  until: 'until {{time}}',
  logout: 'Log out of {{cluster}}',
  lost: {
    title: 'You are logged out',
    body: 'Your input on this page is kept. Log in in another tab, then continue.',
    action: 'Log in (new tab)',
  },
} as const;
