import {
  Button,
  Masthead,
  MastheadBrand,
  MastheadContent,
  MastheadLogo,
  MastheadMain,
  Page,
  SkipToContent,
  Toolbar,
  ToolbarContent,
  ToolbarGroup,
  ToolbarItem,
  Flex,
} from '@patternfly/react-core';
import title from '@patternfly/react-styles/css/components/Title/title';
import { useEffect, useRef, type AnchorHTMLAttributes } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, NavigationType, useLocation, useNavigationType } from 'react-router';
import { pageAddress } from '../api/base';
import { LANGUAGES, useLanguage } from '../i18n';
import { Account } from './Account';
import { paths } from './paths';
import { SignedInOutlet } from './SignedInOutlet';

const MAIN = 'main';

const HomeLink = (props: AnchorHTMLAttributes<HTMLAnchorElement>) => (
  <Link {...props} to={paths.releases()} style={{ textDecoration: 'none' }} />
);

/** What stands around every page. */
export function Layout() {
  const { t } = useTranslation('common');
  useBeginning();
  return (
    <Page
      masthead={
        <Masthead display={{ default: 'inline' }}>
          <MastheadMain>
            <MastheadBrand>
              <MastheadLogo component={HomeLink} aria-label={t('home')}>
                <Flex alignItems={{ default: 'alignItemsCenter' }} gap={{ default: 'gapSm' }} component="span">
                  <img src={pageAddress('/logo.svg')} alt="" width="32" height="32" />
                  <span className={`${title.title} ${title.modifiers.lg}`}>helmtrail</span>
                </Flex>
              </MastheadLogo>
            </MastheadBrand>
          </MastheadMain>
          <MastheadContent>
            <Toolbar isStatic>
              <ToolbarContent>
                <ToolbarGroup align={{ default: 'alignEnd' }}>
                  <ToolbarItem>
                    <Account />
                  </ToolbarItem>
                  <ToolbarItem>
                    <LanguageSwitch />
                  </ToolbarItem>
                </ToolbarGroup>
              </ToolbarContent>
            </Toolbar>
          </MastheadContent>
        </Masthead>
      }
      skipToContent={<SkipToContent href={`#${MAIN}`}>{t('skipToContent')}</SkipToContent>}
      mainContainerId={MAIN}
      isContentFilled
    >
      <SignedInOutlet />
    </Page>
  );
}

/** Begins each page at its top, for the eyes and for the keyboard; whoever goes back finds the page as it was scrolled. */
function useBeginning(): void {
  const { pathname } = useLocation();
  const type = useNavigationType();
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) {
      return;
    }
    shown.current = pathname;
    const main = document.getElementById(MAIN);
    if (!main) {
      return;
    }
    // A frame around the whole page would tell nobody where they are.
    main.style.outline = 'none';
    main.focus({ preventScroll: true });
    if (type !== NavigationType.Pop) {
      main.scrollTo(0, 0);
    }
  }, [pathname, type]);
}

/** Switches to the other language; its label is written in that language. */
function LanguageSwitch() {
  const [language, setLanguage] = useLanguage();
  const other = LANGUAGES.find((l) => l.id !== language) ?? LANGUAGES[0];
  return (
    <Button variant="plain" lang={other.id} onClick={() => void setLanguage(other.id)}>
      {other.name}
    </Button>
  );
}
