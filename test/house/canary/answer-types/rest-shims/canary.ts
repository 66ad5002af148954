const json = (value: unknown): { readonly body: unknown } => ({ body: value });

/** Answers that the documented types do not allow: null, absent, a member of another type. */
export const rows = (user: string | null, email: string | undefined, queued: string) => [
  { name: 'signIn.json', render: () => json({ redirect_url: user, token: '' }) },
  { name: 'signIn.code', render: () => json({ code: email, expires_in: 1 }) },
  {
    name: 'health.backlog',
    render: () => json({ in_flight_requests: 1, admitted_requests: 1, queued_requests: queued }),
  },
];
