package mask

import "regexp"

// prefixes are the tokens of well-known services, recognised by their beginnings. The
// services document them, and secret scanners such as gitleaks know them. Each has a
// run of at least 14 letters, digits, dots, dashes and underscores.
var prefixes = []form{
	{"AKIA", regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`), 0, nil},                                                      // AWS
	{"ASIA", regexp.MustCompile(`\bASIA[0-9A-Z]{16}\b`), 0, nil},                                                      // AWS
	{"AIza", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`), 0, nil},                                                   // Google API
	{"GOCSPX-", regexp.MustCompile(`\bGOCSPX-[0-9A-Za-z_-]{20,}`), 0, nil},                                            // Google OAuth
	{"ya29.", regexp.MustCompile(`\bya29\.[0-9A-Za-z_-]{20,}`), 0, nil},                                               // Google OAuth
	{"gh", regexp.MustCompile(`\bgh[pousr]_[0-9A-Za-z]{20,}`), 0, nil},                                                // GitHub
	{"github_pat_", regexp.MustCompile(`\bgithub_pat_[0-9A-Za-z_]{20,}`), 0, nil},                                     // GitHub
	{"gl", regexp.MustCompile(`\bgl(?:pat|dt|rt|rtr|ptt|cbt|ft|imt|agent|oas|ffct|soat)-[0-9A-Za-z_-]{16,}`), 0, nil}, // GitLab
	{"GR1348941", regexp.MustCompile(`\bGR1348941[0-9A-Za-z_-]{16,}`), 0, nil},                                        // GitLab runner
	{"glc_", regexp.MustCompile(`\bglc_[0-9A-Za-z+/]{32,}={0,3}`), 0, nil},                                            // Grafana Cloud
	{"glsa_", regexp.MustCompile(`\bglsa_[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}`), 0, nil},                                    // Grafana
	{"xox", regexp.MustCompile(`\bxox[a-z]-[0-9A-Za-z-]{10,}`), 0, nil},                                               // Slack
	{"xapp-", regexp.MustCompile(`\bxapp-[0-9]-[0-9A-Za-z-]{10,}`), 0, nil},                                           // Slack
	{"k_", regexp.MustCompile(`\b[sr]k_(?:live|test|prod)_[0-9A-Za-z]{10,}`), 0, nil},                                 // Stripe
	{"whsec_", regexp.MustCompile(`\bwhsec_[0-9A-Za-z+/=]{20,}`), 0, nil},                                             // Stripe
	{"npm_", regexp.MustCompile(`\bnpm_[0-9A-Za-z]{30,}`), 0, nil},                                                    // npm
	{"pypi-", regexp.MustCompile(`\bpypi-AgE[0-9A-Za-z_-]{40,}`), 0, nil},                                             // PyPI
	{"rubygems_", regexp.MustCompile(`\brubygems_[0-9a-f]{48}`), 0, nil},                                              // RubyGems
	{"dckr_", regexp.MustCompile(`\bdckr_[op]at_[0-9A-Za-z_-]{20,}`), 0, nil},                                         // Docker
	{"_v1_", regexp.MustCompile(`\bdo[opr]_v1_[0-9a-f]{64}`), 0, nil},                                                 // DigitalOcean
	{"sk-", regexp.MustCompile(`\bsk-(?:ant|proj|svcacct|admin)-[0-9A-Za-z_-]{20,}`), 0, nil},                         // Anthropic, OpenAI
	{"T3BlbkFJ", regexp.MustCompile(`\bsk-[0-9A-Za-z]{20}T3BlbkFJ[0-9A-Za-z]{20}`), 0, nil},                           // OpenAI
	{"hf_", regexp.MustCompile(`\bhf_[0-9A-Za-z]{30,}`), 0, nil},                                                      // Hugging Face
	{"hv", regexp.MustCompile(`\bhv[sbr]\.[0-9A-Za-z_-]{20,}`), 0, nil},                                               // Vault
	{".atlasv1.", regexp.MustCompile(`\b[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60,}`), 0, nil},
	{"SG.", regexp.MustCompile(`\bSG\.[0-9A-Za-z_-]{20,24}\.[0-9A-Za-z_-]{39,50}`), 0, nil},        // SendGrid
	{"xkeysib-", regexp.MustCompile(`\bxkeysib-[0-9a-f]{64}-[0-9A-Za-z]{16}`), 0, nil},             // Brevo
	{"key-", regexp.MustCompile(`\bkey-[0-9a-f]{32}\b`), 0, nil},                                   // Mailgun
	{"SK", regexp.MustCompile(`\bSK[0-9a-f]{32}\b`), 0, nil},                                       // Twilio
	{":AA", regexp.MustCompile(`\b[0-9]{8,12}:AA[0-9A-Za-z_-]{33}\b`), 0, nil},                     // Telegram
	{"shp", regexp.MustCompile(`\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}`), 0, nil},                    // Shopify
	{"sq0", regexp.MustCompile(`\bsq0(?:atp|csp|idp)-[0-9A-Za-z_-]{22,}`), 0, nil},                 // Square
	{"pscale_", regexp.MustCompile(`\bpscale_(?:tkn|pw|oauth)_[0-9A-Za-z_.=-]{32,}`), 0, nil},      // PlanetScale
	{"PMAK-", regexp.MustCompile(`\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}`), 0, nil},                      // Postman
	{"pul-", regexp.MustCompile(`\bpul-[0-9a-f]{40}\b`), 0, nil},                                   // Pulumi
	{"NR", regexp.MustCompile(`\bNR(?:AK|II|JS|BR)-[0-9A-Za-z_-]{19,}`), 0, nil},                   // New Relic
	{"FFFFNRAL", regexp.MustCompile(`\b[0-9A-Fa-f]{32}FFFFNRAL\b`), 0, nil},                        // New Relic license
	{"dt0", regexp.MustCompile(`\bdt0[a-z]01\.[0-9A-Z]{24}\.[0-9A-Z]{64}`), 0, nil},                // Dynatrace
	{"lin_api_", regexp.MustCompile(`\blin_api_[0-9A-Za-z]{40}`), 0, nil},                          // Linear
	{"dp.", regexp.MustCompile(`\bdp\.(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z_.-]{40,}`), 0, nil},   // Doppler
	{"dapi", regexp.MustCompile(`\bdapi[0-9a-f]{32}\b`), 0, nil},                                   // Databricks
	{"ATATT3", regexp.MustCompile(`\bATATT3[0-9A-Za-z_=-]{100,}`), 0, nil},                         // Atlassian
	{"sntry", regexp.MustCompile(`\bsntry[su]_[0-9A-Za-z_+/=]{40,}`), 0, nil},                      // Sentry
	{"AGE-SECRET-KEY-1", regexp.MustCompile(`\bAGE-SECRET-KEY-1[0-9A-Z]{58}`), 0, nil},             // age
	{"v1.0-", regexp.MustCompile(`\bv1\.0-[0-9a-f]{24}-[0-9a-f]{146}`), 0, nil},                    // Cloudflare
	{"Q~", regexp.MustCompile(`\b[0-9A-Za-z_~.]{3}[0-9]Q~[0-9A-Za-z_~.-]{31,34}`), 0, nil},         // Microsoft Entra
	{"tskey-", regexp.MustCompile(`\btskey-[a-z]+-[0-9A-Za-z-]{16,}`), 0, nil},                     // Tailscale
	{"AKCp", regexp.MustCompile(`\bAKCp[0-9A-Za-z]{60,}`), 0, nil},                                 // Artifactory
	{"LTAI", regexp.MustCompile(`\bLTAI[0-9A-Za-z]{16,26}\b`), 0, nil},                             // Alibaba Cloud
	{"sbp_", regexp.MustCompile(`\bsbp_[0-9a-f]{40}\b`), 0, nil},                                   // Supabase
	{"nfp_", regexp.MustCompile(`\bnfp_[0-9A-Za-z]{30,}`), 0, nil},                                 // Netlify
	{"/webhookb2/", regexp.MustCompile(`/webhookb2/([0-9A-Za-z@-]+/IncomingWebhook/\S+)`), 1, nil}, // Microsoft Teams
}
