// The documentation's page: a login that succeeds authorizes the calls after it.
const LOGIN = /\/api\/(login|superadmin\/login|register|refresh)\/?$/;

config.responseInterceptor = (response) => {
  const token = response.ok && LOGIN.test(response.url) && response.body?.access_token;
  if (token) window.ui.preauthorizeApiKey("bearer", token);
  return response;
};
