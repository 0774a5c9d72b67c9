import '@patternfly/react-core/dist/styles/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/App';
import { followSystemTheme } from './app/theme';
import { startI18n } from './i18n';

const root = document.getElementById('root');
if (!root) {
  throw new Error('index.html has no element with the id root');
}
followSystemTheme();
await startI18n();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
