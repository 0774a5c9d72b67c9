import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createBrowserRouter, Navigate } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { pageAddress } from '../api/base';
import { isPassing } from '../api/client';
import { Layout } from './Layout';
import { CrashPage } from './CrashPage';
import { NotFoundPage } from './NotFoundPage';
import { paths } from './paths';
import { HOLDS_INPUT } from './SignedInOutlet';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Retrying helps if the server is unreachable, not if it refuses.
      retry: (failures, error) => failures < 2 && isPassing(error),
    },
  },
});

const router = createBrowserRouter(
  [
    {
      path: '/',
      Component: Layout,
      ErrorBoundary: CrashPage,
      HydrateFallback: () => null,
      children: [
        { index: true, element: <Navigate to={paths.releases()} replace /> },
        {
          path: 'releases/:cluster?/:namespace?',
          lazy: async () => ({ Component: (await import('../pages/releases/ReleasesPage')).ReleasesPage }),
        },
        {
          path: 'releases/:cluster/:namespace/:name',
          lazy: async () => ({ Component: (await import('../pages/release/ReleasePage')).ReleasePage }),
        },
        {
          path: 'install/:cluster/:namespace?',
          handle: HOLDS_INPUT,
          lazy: async () => ({ Component: (await import('../pages/install/InstallPage')).InstallPage }),
        },
        {
          path: 'upgrade-rollback/:cluster/:namespace/:name',
          handle: HOLDS_INPUT,
          lazy: async () => ({ Component: (await import('../pages/change/ChangePage')).ChangePage }),
        },
        {
          path: 'compare/:cluster/:namespace/:name',
          lazy: async () => ({ Component: (await import('../pages/compare/ComparePage')).ComparePage }),
        },
        {
          path: 'events/:cluster/:namespace/:name',
          lazy: async () => ({ Component: (await import('../pages/events/EventsPage')).EventsPage }),
        },
        {
          path: 'login',
          lazy: async () => ({ Component: (await import('../pages/login/LoginPage')).LoginPage }),
        },
        { path: '*', Component: NotFoundPage },
      ],
    },
  ],
  { basename: pageAddress('') },
);

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}
